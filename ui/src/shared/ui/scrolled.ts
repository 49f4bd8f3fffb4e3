/** As near as this to the end is at the end, in pixels. */
export const NEAR = 8;

/** Whether the end of what a box holds is in sight; of what fits whole it always is. */
export const isAtEnd = (box: HTMLElement): boolean => box.scrollTop + box.clientHeight >= box.scrollHeight - NEAR;
