/** Boundary between two questions: a question mark, or a conjunction before a question word. */
const BORDER =
  /[?？]\s*|[,;]?\s+(?:and|or)\s+(?=(?:what|which|who|whom|whose|when|where|why|how|is|are|do|does|did|can|until)\b)/iu
const SHORTEST_PART = 8

/** Splits a query into its questions, in order; a single question is returned unchanged. */
export function partsOf(query: string): string[] {
  const parts = query
    .split(BORDER)
    .map((part) => part.trim())
    .filter((part) => part.length >= SHORTEST_PART)
  return parts.length < 2 ? [query] : parts
}
