/** Where one question ends and another begins: a question mark, or a conjunction before a question word. */
const BORDER =
  /[?？]\s*|[,;]?\s+(?:and|or)\s+(?=(?:what|which|who|whom|whose|when|where|why|how|is|are|do|does|did|can|until)\b)/iu
const SHORTEST_PART = 8

/** The questions that a query asks, in order; one that asks a single one is its own part. */
export function partsOf(query: string): string[] {
  const parts = query
    .split(BORDER)
    .map((part) => part.trim())
    .filter((part) => part.length >= SHORTEST_PART)
  return parts.length < 2 ? [query] : parts
}
