/** Boundary between two questions: a question mark, or a conjunction before a question word. */
const BOUNDARY =
  /[?？]\s*|[,;]?\s+(?:and|or)\s+(?=(?:what|which|who|whom|whose|when|where|why|how|is|are|do|does|did|can|until)\b)/iu
const MIN_PART_LENGTH = 8

/** Splits a query into its questions, in order; a single question is returned unchanged. */
export function splitQuestions(query: string): string[] {
  const parts = query
    .split(BOUNDARY)
    .map((part) => part.trim())
    .filter((part) => part.length >= MIN_PART_LENGTH)
  return parts.length < 2 ? [query] : parts
}
