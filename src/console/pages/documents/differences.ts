export interface TextChange {
  kind: 'added' | 'removed' | 'unchanged'
  /** for `unchanged`, the number of elements */
  text: string
}

/** Table cells above which elements are compared as sets: moved elements then count as unchanged. */
const MAX_TABLE_CELLS = 4_000_000

/** Compares two texts element by element; consecutive unchanged elements are counted. */
export function diffElements(before: readonly string[], after: readonly string[]): TextChange[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const maxTail = Math.min(before.length, after.length) - head
  while (tail < maxTail && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const beforeMiddle = before.slice(head, before.length - tail)
  const afterMiddle = after.slice(head, after.length - tail)
  const middle =
    beforeMiddle.length * afterMiddle.length > MAX_TABLE_CELLS
      ? diffAsSets(beforeMiddle, afterMiddle)
      : diffByLcs(beforeMiddle, afterMiddle)
  return mergeUnchanged([...Array<null>(head).fill(null), ...middle, ...Array<null>(tail).fill(null)])
}

type DiffStep = TextChange | null

/** Diff by the longest common subsequence; null for an unchanged element. */
function diffByLcs(a: readonly string[], b: readonly string[]): DiffStep[] {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const steps: DiffStep[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      steps.push(null)
      i++
      j++
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1)))
      steps.push({ kind: 'removed', text: a[i++] ?? '' })
    else steps.push({ kind: 'added', text: b[j++] ?? '' })
  }
  return steps
}

function diffAsSets(a: readonly string[], b: readonly string[]): DiffStep[] {
  const old = new Set(a)
  const current = new Set(b)
  return [
    ...a.filter((text) => !current.has(text)).map((text): DiffStep => ({ kind: 'removed', text })),
    ...b.map((text): DiffStep => (old.has(text) ? null : { kind: 'added', text })),
  ]
}

function mergeUnchanged(steps: readonly DiffStep[]): TextChange[] {
  const changes: TextChange[] = []
  let unchangedCount = 0
  const flush = () => {
    if (unchangedCount > 0)
      changes.push({
        kind: 'unchanged',
        text: `${unchangedCount} ${unchangedCount === 1 ? 'element' : 'elements'} unchanged`,
      })
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
