/** Runs the tests of a mutant, the nearest first, until one fails or the time for it is used up. */

/** what a file may take over its time in the baseline: the machine may be busier now */
const SLOWER = 3
const GRACE_MS = 20_000

/**
 * @typedef {{ file: string, start: number, end: number, text: string, name: string, id: number, line: number, column: number, before: string }} Placed
 * @typedef {{ status: 'killed' | 'timeout' | 'survived' | 'unreached', by?: string, ran: number }} Verdict
 */

/**
 * @param {readonly { test: string, remote: number, milliseconds: number }[]} tests that reach a mutant
 * @param {number} budgetMs
 * @returns {{ test: string, milliseconds: number }[]} the nearest and quickest of them, one at least
 */
export function chosen(tests, budgetMs) {
  const ordered = [...tests].sort((a, b) => a.remote - b.remote || a.milliseconds - b.milliseconds)
  let left = budgetMs
  return ordered.filter(({ milliseconds }, place) => {
    left -= milliseconds
    return place === 0 || left >= 0
  })
}

/**
 * @param {import('./runner.js').Runner} runner
 * @param {number} id
 * @param {readonly { test: string, milliseconds: number }[]} tests
 * @param {(test: string) => Promise<boolean>} isGreen whether a test that noticed the mutant passes without one
 * @returns {Promise<Verdict>}
 */
export async function judge(runner, id, tests, isGreen) {
  let ran = 0
  for (const { test, milliseconds } of tests) {
    const timeoutMs = SLOWER * milliseconds + GRACE_MS
    const { files, timedOut, error } = await runner.run(id, [test], { bail: true, timeoutMs })
    ran++
    // a mutant that ends the process of the tests was noticed as well
    const isNoticed = timedOut || error !== undefined || files.some(({ ok }) => !ok)
    if (isNoticed && (await isGreen(test))) return { status: timedOut ? 'timeout' : 'killed', by: test, ran }
  }
  return { status: tests.length === 0 ? 'unreached' : 'survived', ran }
}

/** Mutants that were noticed, of all. @param {readonly Verdict[]} verdicts */
export function scoreOf(verdicts) {
  const noticed = verdicts.filter(({ status }) => status === 'killed' || status === 'timeout').length
  return verdicts.length === 0 ? 1 : noticed / verdicts.length
}
