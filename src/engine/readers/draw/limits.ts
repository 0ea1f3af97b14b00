/** Pictures with more pixels are not decoded: each pixel takes four bytes, and some are stored twice. */
export const MAX_DRAWN_PIXELS = 36_000_000
/** Maximal resolution of drawn pictures: finer detail is not visible. */
export const MAX_DPI = 200
