import { plural } from '../../ui/format.js'

export interface TextChange {
  kind: 'added' | 'removed' | 'unchanged'
  /** text of the element; of unchanged elements a sentence with their number */
  text: string
}

/** Table cells above which elements are compared as sets: moved elements then count as unchanged. */
const MAX_TABLE_CELLS = 4_000_000

/** Compares two texts element by element; consecutive unchanged elements are counted. */
export function diffElements(previous: readonly string[], current: readonly string[]): TextChange[] {
  const minLength = Math.min(previous.length, current.length)
  let prefix = 0
  while (prefix < minLength && previous[prefix] === current[prefix]) prefix++
  let suffix = 0
  while (suffix < minLength - prefix && previous.at(-1 - suffix) === current.at(-1 - suffix)) suffix++
  const previousMiddle = previous.slice(prefix, previous.length - suffix)
  const currentMiddle = current.slice(prefix, current.length - suffix)
  const middle =
    previousMiddle.length * currentMiddle.length > MAX_TABLE_CELLS
      ? diffAsSets(previousMiddle, currentMiddle)
      : diffByLcs(previousMiddle, currentMiddle)
  return mergeUnchanged([...Array<null>(prefix).fill(null), ...middle, ...Array<null>(suffix).fill(null)])
}

/** null: an unchanged element */
type DiffStep = TextChange | null

/** Diff by the longest common subsequence. */
function diffByLcs(previous: readonly string[], current: readonly string[]): DiffStep[] {
  const width = current.length + 1
  const lengths = new Uint16Array((previous.length + 1) * width)
  /** length of the longest common subsequence of the elements from `i` and from `j` */
  const lcs = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = previous.length - 1; i >= 0; i--)
    for (let j = current.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        previous[i] === current[j] ? lcs(i + 1, j + 1) + 1 : Math.max(lcs(i + 1, j), lcs(i, j + 1))
  const steps: DiffStep[] = []
  let i = 0
  let j = 0
  while (i < previous.length || j < current.length) {
    if (i < previous.length && j < current.length && previous[i] === current[j]) {
      steps.push(null)
      i++
      j++
    } else if (j >= current.length || (i < previous.length && lcs(i + 1, j) >= lcs(i, j + 1)))
      steps.push({ kind: 'removed', text: previous[i++] ?? '' })
    else steps.push({ kind: 'added', text: current[j++] ?? '' })
  }
  return steps
}

function diffAsSets(previous: readonly string[], current: readonly string[]): DiffStep[] {
  const previousTexts = new Set(previous)
  const currentTexts = new Set(current)
  return [
    ...previous.filter((text) => !currentTexts.has(text)).map((text): DiffStep => ({ kind: 'removed', text })),
    ...current.map((text): DiffStep => (previousTexts.has(text) ? null : { kind: 'added', text })),
  ]
}

function mergeUnchanged(steps: readonly DiffStep[]): TextChange[] {
  const changes: TextChange[] = []
  let unchangedCount = 0
  const flush = () => {
    if (unchangedCount > 0) changes.push({ kind: 'unchanged', text: `${plural(unchangedCount, 'element')} unchanged` })
    unchangedCount = 0
  }
  for (const step of steps) {
    if (step === null) unchangedCount++
    else {
      flush()
      changes.push(step)
    }
  }
  flush()
  return changes
}
