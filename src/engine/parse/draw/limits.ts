/** Pictures with more pixels are not decoded: each takes four bytes, some of them twice. */
export const MAX_DRAWN_PIXELS = 36_000_000
/** Figures are drawn at this resolution at most: what is finer is not seen. */
export const MOST_DPI = 200
