/** Texts that an answer contains and does not contain, and the state of its evidence. */
interface Expectation {
  answer?: readonly string[] | undefined
  not?: readonly string[] | undefined
  state?: string | undefined
}

/** An answer compared with an expectation. */
export interface AnswerCheck {
  right: boolean
  /** expected texts that the answer does not contain */
  missing: string[]
  /** excluded texts that the answer contains */
  forbidden: string[]
  /** where another state was expected */
  wrongState?: { expected: string; actual: string } | undefined
}

/** Compares the text and the evidence state of an answer with an expectation. */
export function checkAnswer(
  { answer = [], not = [], state }: Expectation,
  actual: { text: string; state: string },
): AnswerCheck {
  const text = toComparable(actual.text)
  const missing = answer.filter((expected) => !containsText(text, toComparable(expected)))
  const forbidden = not.filter((expected) => containsText(text, toComparable(expected)))
  const isWrongState = state !== undefined && state !== actual.state
  return {
    right: missing.length + forbidden.length === 0 && !isWrongState,
    missing,
    forbidden,
    ...(isWrongState ? { wrongState: { expected: state, actual: actual.state } } : {}),
  }
}

/** A citation as answers contain it. Without its removal, an expected `1` would match `[1]`. */
const CITATION = /\[\d{1,3}\]/g

/** NFKC, case folding and collapsed white space. Upper case before lower case folds `ß` and `ss` to the same text. */
function toComparable(text: string): string {
  const folded = text.replace(CITATION, '').normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ')
  return folded.normalize('NFKC').replace(/\s+/g, ' ').trim()
}

const STARTS_WITH_DIGIT = /^\p{N}/u
const ENDS_WITH_DIGIT = /\p{N}$/u
/** The text before a match that starts in the middle of a number, and after one that ends there. */
const NUMBER_BEFORE = /\p{N}[.,]?$/u
const NUMBER_AFTER = /^[.,]?\p{N}/u

/** Finds a text literally, but no number within a longer one: `5` is not in `15` or `5.5`. */
function containsText(text: string, expected: string): boolean {
  if (expected === '') return false
  for (let start = text.indexOf(expected); start >= 0; start = text.indexOf(expected, start + 1)) {
    const end = start + expected.length
    const cutsBefore = STARTS_WITH_DIGIT.test(expected) && NUMBER_BEFORE.test(text.slice(Math.max(0, start - 3), start))
    const cutsAfter = ENDS_WITH_DIGIT.test(expected) && NUMBER_AFTER.test(text.slice(end, end + 3))
    if (!cutsBefore && !cutsAfter) return true
  }
  return false
}
