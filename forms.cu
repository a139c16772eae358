#include <cstdint>
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n8_ss_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3},%4,%5,p,1,1,0,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n8_ss_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3},%4,%5,p,-1,1,0,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n8_ss_2(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3},%4,%5,p,1,-1,1,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n8_rs_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%9,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p,1,1,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n8_rs_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%9,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p,-1,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n64_ss_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,1,1,0,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n64_ss_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,-1,1,0,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n64_ss_2(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,1,-1,1,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n64_rs_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p,1,1,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_f16_f16_n64_rs_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p,-1,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n8_ss_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[2]; for(int i=0;i<2;i++)d[i]=c[threadIdx.x*2+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%4,0; wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1},%2,%3,p,1,1,0,0;}" : "+r"(d[0]),"+r"(d[1]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<2;i++)c[threadIdx.x*2+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n8_ss_1(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[2]; for(int i=0;i<2;i++)d[i]=c[threadIdx.x*2+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%4,0; wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1},%2,%3,p,-1,1,0,1;}" : "+r"(d[0]),"+r"(d[1]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<2;i++)c[threadIdx.x*2+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n8_ss_2(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[2]; for(int i=0;i<2;i++)d[i]=c[threadIdx.x*2+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%4,0; wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1},%2,%3,p,1,-1,1,0;}" : "+r"(d[0]),"+r"(d[1]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<2;i++)c[threadIdx.x*2+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n8_rs_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[2]; for(int i=0;i<2;i++)d[i]=c[threadIdx.x*2+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%7,0; wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},%6,p,1,1,0;}" : "+r"(d[0]),"+r"(d[1]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<2;i++)c[threadIdx.x*2+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n8_rs_1(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[2]; for(int i=0;i<2;i++)d[i]=c[threadIdx.x*2+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%7,0; wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},%6,p,-1,-1,1;}" : "+r"(d[0]),"+r"(d[1]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<2;i++)c[threadIdx.x*2+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n64_ss_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[16]; for(int i=0;i<16;i++)d[i]=c[threadIdx.x*16+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%18,0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},%16,%17,p,1,1,0,0;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<16;i++)c[threadIdx.x*16+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n64_ss_1(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[16]; for(int i=0;i<16;i++)d[i]=c[threadIdx.x*16+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%18,0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},%16,%17,p,-1,1,0,1;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<16;i++)c[threadIdx.x*16+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n64_ss_2(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[16]; for(int i=0;i<16;i++)d[i]=c[threadIdx.x*16+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%18,0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},%16,%17,p,1,-1,1,0;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<16;i++)c[threadIdx.x*16+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n64_rs_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[16]; for(int i=0;i<16;i++)d[i]=c[threadIdx.x*16+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%21,0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},{%16,%17,%18,%19},%20,p,1,1,0;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<16;i++)c[threadIdx.x*16+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_f16_f16_n64_rs_1(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[16]; for(int i=0;i<16;i++)d[i]=c[threadIdx.x*16+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%21,0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},{%16,%17,%18,%19},%20,p,-1,-1,1;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<16;i++)c[threadIdx.x*16+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n8_ss_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3},%4,%5,p,1,1,0,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n8_ss_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3},%4,%5,p,-1,1,0,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n8_ss_2(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3},%4,%5,p,1,-1,1,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n8_rs_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%9,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p,1,1,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n8_rs_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%9,0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p,-1,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n64_ss_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,1,1,0,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n64_ss_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,-1,1,0,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n64_ss_2(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,1,-1,1,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n64_rs_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p,1,1,0;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_bf16_bf16_n64_rs_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p,-1,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_tf32_tf32_n8_ss_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3},%4,%5,p,1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_tf32_tf32_n8_ss_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3},%4,%5,p,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_tf32_tf32_n8_rs_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%9,0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p,1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_tf32_tf32_n8_rs_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%9,0; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_tf32_tf32_n64_ss_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_tf32_tf32_n64_ss_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_tf32_tf32_n64_rs_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p,1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_tf32_tf32_n64_rs_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_e4m3_e5m2_n8_ss_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%0,%1,%2,%3},%4,%5,p,1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_e4m3_e5m2_n8_ss_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%0,%1,%2,%3},%4,%5,p,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_e4m3_e5m2_n8_rs_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%9,0; wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p,1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_e4m3_e5m2_n8_rs_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%9,0; wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_e4m3_e5m2_n64_ss_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e5m2 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_e4m3_e5m2_n64_ss_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e5m2 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_e4m3_e5m2_n64_rs_0(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e5m2 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p,1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f32_e4m3_e5m2_n64_rs_1(float*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  float d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e5m2 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p,-1,1;}" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_e4m3_e4m3_n8_ss_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[2]; for(int i=0;i<2;i++)d[i]=c[threadIdx.x*2+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%4,0; wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%0,%1},%2,%3,p,1,1;}" : "+r"(d[0]),"+r"(d[1]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<2;i++)c[threadIdx.x*2+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_e4m3_e4m3_n8_ss_1(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[2]; for(int i=0;i<2;i++)d[i]=c[threadIdx.x*2+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%4,0; wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%0,%1},%2,%3,p,-1,1;}" : "+r"(d[0]),"+r"(d[1]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<2;i++)c[threadIdx.x*2+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_e4m3_e4m3_n8_rs_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[2]; for(int i=0;i<2;i++)d[i]=c[threadIdx.x*2+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%7,0; wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%0,%1},{%2,%3,%4,%5},%6,p,1,1;}" : "+r"(d[0]),"+r"(d[1]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<2;i++)c[threadIdx.x*2+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_e4m3_e4m3_n8_rs_1(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[2]; for(int i=0;i<2;i++)d[i]=c[threadIdx.x*2+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%7,0; wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%0,%1},{%2,%3,%4,%5},%6,p,-1,1;}" : "+r"(d[0]),"+r"(d[1]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<2;i++)c[threadIdx.x*2+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_e4m3_e4m3_n64_ss_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[16]; for(int i=0;i<16;i++)d[i]=c[threadIdx.x*16+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%18,0; wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e4m3 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},%16,%17,p,1,1;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<16;i++)c[threadIdx.x*16+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_e4m3_e4m3_n64_ss_1(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[16]; for(int i=0;i<16;i++)d[i]=c[threadIdx.x*16+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%18,0; wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e4m3 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},%16,%17,p,-1,1;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<16;i++)c[threadIdx.x*16+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_e4m3_e4m3_n64_rs_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[16]; for(int i=0;i<16;i++)d[i]=c[threadIdx.x*16+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%21,0; wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e4m3 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},{%16,%17,%18,%19},%20,p,1,1;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<16;i++)c[threadIdx.x*16+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) f16_e4m3_e4m3_n64_rs_1(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[16]; for(int i=0;i<16;i++)d[i]=c[threadIdx.x*16+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%21,0; wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e4m3 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15},{%16,%17,%18,%19},%20,p,-1,1;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<16;i++)c[threadIdx.x*16+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) s32_s8_u8_n8_ss_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%6,0; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%0,%1,%2,%3},%4,%5,p;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) s32_s8_u8_n8_rs_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[4]; for(int i=0;i<4;i++)d[i]=c[threadIdx.x*4+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%9,0; wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%0,%1,%2,%3},{%4,%5,%6,%7},%8,p;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<4;i++)c[threadIdx.x*4+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) s32_s8_u8_n64_ss_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%34,0; wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.u8 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},%32,%33,p;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]),"+r"(d[16]),"+r"(d[17]),"+r"(d[18]),"+r"(d[19]),"+r"(d[20]),"+r"(d[21]),"+r"(d[22]),"+r"(d[23]),"+r"(d[24]),"+r"(d[25]),"+r"(d[26]),"+r"(d[27]),"+r"(d[28]),"+r"(d[29]),"+r"(d[30]),"+r"(d[31]) : "l"(da),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
extern "C" __global__ void __launch_bounds__(128) s32_s8_u8_n64_rs_0(unsigned*c,uint64_t da,uint64_t db,const unsigned*rr,int s){
  unsigned d[32]; for(int i=0;i<32;i++)d[i]=c[threadIdx.x*32+i];
  unsigned r[4]; for(int i=0;i<4;i++)r[i]=rr[threadIdx.x*4+i];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p,%37,0; wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.u8 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31},{%32,%33,%34,%35},%36,p;}" : "+r"(d[0]),"+r"(d[1]),"+r"(d[2]),"+r"(d[3]),"+r"(d[4]),"+r"(d[5]),"+r"(d[6]),"+r"(d[7]),"+r"(d[8]),"+r"(d[9]),"+r"(d[10]),"+r"(d[11]),"+r"(d[12]),"+r"(d[13]),"+r"(d[14]),"+r"(d[15]),"+r"(d[16]),"+r"(d[17]),"+r"(d[18]),"+r"(d[19]),"+r"(d[20]),"+r"(d[21]),"+r"(d[22]),"+r"(d[23]),"+r"(d[24]),"+r"(d[25]),"+r"(d[26]),"+r"(d[27]),"+r"(d[28]),"+r"(d[29]),"+r"(d[30]),"+r"(d[31]) : "r"(r[0]),"r"(r[1]),"r"(r[2]),"r"(r[3]),"l"(db),"r"(s));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for(int i=0;i<32;i++)c[threadIdx.x*32+i]=d[i];
}
