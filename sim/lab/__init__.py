"""The lab: a live page on which a listing, a launch and a GPU are changed and the timeline follows; exercises to predict first."""
