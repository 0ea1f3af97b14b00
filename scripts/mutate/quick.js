/**
 * Quick tests on many mutants at a time, in one process each. What a mutant leaves behind could fail the runs after it:
 * that a mutant was noticed is believed once a later run passed in the same process; else it is tried by itself.
 */

/** a test file that takes longer runs in a process of its own for each mutant */
export const QUICK_MS = 3000
/** after so many mutants a run without any */
const CONTROLLED_EVERY = 20
const SLOWER = 5
const GRACE_MS = 10_000
const START_MS = 90_000

/** @typedef {'passed' | 'killed' | 'timeout'} Outcome what became of a mutant in one test */

/**
 * @param {import('./runner.js').Runner} runner
 * @param {readonly number[]} ids
 * @param {{ test: string, milliseconds: number }} test with its time
 * @param {string} told a file that this run may use
 * @returns {Promise<Map<number, Outcome> | undefined>} nothing where the test fails without a mutant
 */
export async function tryMany(runner, ids, { test, milliseconds }, told) {
  const how = { told, greenMs: SLOWER * milliseconds + START_MS, timeoutMs: SLOWER * milliseconds + GRACE_MS }
  /** @type {Map<number, Outcome>} */
  const outcomes = new Map()
  const alone = []
  let left = [...ids]
  while (left.length > 0) {
    const { isGreen, timedOut, begun } = await runner.runMany(controlled(left), test, how)
    if (!isGreen) return undefined
    const read = readRun(begun, timedOut)
    for (const [id, outcome] of read.outcomes) outcomes.set(id, outcome)
    alone.push(...read.doubted)
    const known = new Set([...outcomes.keys(), ...alone])
    left = left.filter((id) => !known.has(id))
    // nothing was tried: the process ends before the first mutant
    if (known.size === 0) return undefined
  }
  for (const id of alone) {
    const { files, timedOut, error } = await runner.run(id, [test], { bail: true, timeoutMs: how.greenMs })
    const isNoticed = timedOut || error !== undefined || files.some(({ ok }) => !ok)
    outcomes.set(id, timedOut ? 'timeout' : isNoticed ? 'killed' : 'passed')
  }
  return outcomes
}

/** @param {readonly number[]} ids @returns {number[]} with runs without a mutant between them and at the end */
function controlled(ids) {
  const runs = ids.flatMap((id, place) => ((place + 1) % CONTROLLED_EVERY === 0 ? [id, 0] : [id]))
  return runs.at(-1) === 0 ? runs : [...runs, 0]
}

/**
 * What the runs of one process say: those that are not proven and not doubted are to be tried anew.
 *
 * @param {readonly { id: number, ok?: boolean }[]} begun in their order; the last may have no end
 * @param {boolean} timedOut
 * @returns {{ outcomes: Map<number, Outcome>, doubted: number[] }}
 */
export function readRun(begun, timedOut) {
  /** @type {Map<number, Outcome>} */
  const outcomes = new Map()
  let unproven = []
  for (const { id, ok } of begun) {
    if (ok === true) {
      for (const noticed of unproven) outcomes.set(noticed, 'killed')
      unproven = []
      if (id !== 0) outcomes.set(id, 'passed')
    } else if (id === 0) return { outcomes, doubted: unproven }
    else if (ok === false) unproven.push(id)
    else {
      outcomes.set(id, timedOut ? 'timeout' : 'killed')
      // a process that ended proves nothing of those before: they are tried again, the first of them without others
      return { outcomes, doubted: unproven.slice(0, 1) }
    }
  }
  return { outcomes, doubted: [] }
}

/**
 * Takes the mutants through their quick tests, the nearest first, as long as they pass.
 *
 * @template {{ id: number }} T
 * @param {readonly T[]} mutants
 * @param {(mutant: T) => readonly { test: string, milliseconds: number }[]} testsOf quick ones in their order
 * @param {import('./runner.js').Runner[]} runners that work at the same time
 * @param {{ told: (place: number) => string, decided: (mutant: T, verdict: { status: 'killed' | 'timeout', by: string, ran: number }) => void, red: (test: string) => void }} how
 * @returns {Promise<T[]>} those that passed all of them
 */
export async function throughQuick(mutants, testsOf, runners, { told, decided, red }) {
  const states = mutants.map((mutant) => ({ mutant, left: [...testsOf(mutant)], ran: 0, busy: false, over: false }))
  const failing = new Set()
  const nextOf = (state) => {
    while (failing.has(state.left[0]?.test)) state.left.shift()
    return state.left[0]
  }
  /** The test that most mutants wait for, of those that nobody has in hand. */
  const take = () => {
    /** @type {Map<string, { test: { test: string, milliseconds: number }, states: typeof states }>} */
    const waiting = new Map()
    for (const state of states) {
      const next = state.busy || state.over ? undefined : nextOf(state)
      if (next === undefined) continue
      const group = waiting.get(next.test) ?? { test: next, states: [] }
      group.states.push(state)
      waiting.set(next.test, group)
    }
    return [...waiting.values()].sort((a, b) => b.states.length - a.states.length)[0]
  }
  let working = 0
  const work = async (runner, place) => {
    for (;;) {
      const group = take()
      if (group === undefined) {
        if (working === 0) return
        await new Promise((resolve) => setTimeout(resolve, 100))
        continue
      }
      working++
      for (const state of group.states) state.busy = true
      const ids = group.states.map(({ mutant }) => mutant.id)
      const outcomes = await tryMany(runner, ids, group.test, told(place))
      if (outcomes === undefined) {
        failing.add(group.test.test)
        red(group.test.test)
      }
      for (const state of group.states) {
        state.busy = false
        const outcome = outcomes?.get(state.mutant.id)
        if (outcome === undefined) continue
        state.left.shift()
        state.ran++
        if (outcome === 'passed') continue
        state.over = true
        decided(state.mutant, { status: outcome, by: group.test.test, ran: state.ran })
      }
      working--
    }
  }
  await Promise.all(runners.map(work))
  return states.filter(({ over }) => !over).map(({ mutant }) => mutant)
}
