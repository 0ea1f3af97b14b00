export interface Change {
  kind: 'added' | 'removed' | 'unchanged'
  /** for `unchanged`, the number of elements */
  text: string
}

/** Table cells above which elements are compared as sets: moved elements then count as unchanged. */
const MOST_CELLS = 4_000_000

/** Compares two texts element by element; consecutive unchanged elements are counted. */
export function differences(before: readonly string[], now: readonly string[]): Change[] {
  let head = 0
  while (head < before.length && head < now.length && before[head] === now[head]) head++
  let tail = 0
  const most = Math.min(before.length, now.length) - head
  while (tail < most && before[before.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  const a = before.slice(head, before.length - tail)
  const b = now.slice(head, now.length - tail)
  const middle = a.length * b.length > MOST_CELLS ? bySets(a, b) : byTable(a, b)
  return counted([...Array<null>(head).fill(null), ...middle, ...Array<null>(tail).fill(null)])
}

type Step = Change | null

/** Diff by the longest common subsequence; null for an unchanged element. */
function byTable(a: readonly string[], b: readonly string[]): Step[] {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const steps: Step[] = []
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

function bySets(a: readonly string[], b: readonly string[]): Step[] {
  const old = new Set(a)
  const fresh = new Set(b)
  return [
    ...a.filter((text) => !fresh.has(text)).map((text): Step => ({ kind: 'removed', text })),
    ...b.map((text): Step => (old.has(text) ? null : { kind: 'added', text })),
  ]
}

function counted(steps: readonly Step[]): Change[] {
  const changes: Change[] = []
  let same = 0
  const close = () => {
    if (same > 0) changes.push({ kind: 'unchanged', text: `${same} ${same === 1 ? 'element' : 'elements'} unchanged` })
    same = 0
  }
  for (const step of steps) {
    if (step === null) same++
    else {
      close()
      changes.push(step)
    }
  }
  close()
  return changes
}
