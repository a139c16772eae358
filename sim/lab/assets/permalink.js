/* The state of the page as the fragment of its address, and back: deflated JSON in base64 for addresses. The server checks what comes of it. */

"use strict";

const MOST_LINK = 60000; // characters of an address

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function toFragment(state) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)));
  let text = "";
  for (let k = 0; k < packed.length; k += 8192) text += String.fromCharCode(...packed.subarray(k, k + 8192));
  return `s=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The state that a fragment holds, null when it holds none. */
async function fromFragment(fragment) {
  const [, text] = /^s=([\w-]+)$/.exec(fragment) ?? [];
  if (!text || text.length > MOST_LINK) return null;
  try {
    const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed)));
    return typeof state === "object" && state !== null ? state : null;
  } catch {
    return null;
  }
}
