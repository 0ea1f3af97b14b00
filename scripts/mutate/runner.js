/** Runs test files in a process of its own, and ends that process with all its children where they take too long. */
import { fork } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('vitest-run.js', import.meta.url))
const START_MS = 120_000
/** how often it is looked whether a test that runs for many mutants goes on */
const LOOK_MS = 200

/**
 * @typedef {object} Outcome
 * @property {{ file: string, ok: boolean, failed: string[], milliseconds: number }[]} files those that ended
 * @property {boolean} timedOut
 * @property {string} [error] why nothing could be run
 */

export class Runner {
  #root
  #env
  #child

  /** @param {string} root @param {[string, number][]} targets @param {Record<string, string>} env */
  constructor(root, targets, env) {
    this.#root = root
    this.#env = { ...process.env, ...env, MUTATE_TARGETS: JSON.stringify({ root, targets }), KS_SKIP_BUILD: '1' }
  }

  /**
   * @param {number} mutant 0 for none
   * @param {readonly string[]} tests
   * @param {{ bail: boolean, timeoutMs: number, many?: readonly number[], told?: string }} how
   * @returns {Promise<Outcome>}
   */
  async run(mutant, tests, { bail, timeoutMs, many, told }) {
    this.#child ??= await this.#start()
    const child = this.#child
    /** @type {Outcome} */
    const outcome = { files: [], timedOut: false }
    return await new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        child.off('message', heard)
        child.off('exit', died)
        resolve(outcome)
      }
      const timer = setTimeout(() => {
        outcome.timedOut = true
        this.stop()
        end()
      }, timeoutMs)
      const died = () => {
        outcome.error = 'the process that runs the tests has ended'
        this.#child = undefined
        end()
      }
      const heard = (message) => {
        if (message.type === 'file') outcome.files.push({ ...message, file: relative(this.#root, message.file) })
        if (message.type !== 'done') return
        if (message.error !== undefined) outcome.error = message.error
        end()
      }
      child.on('message', heard)
      child.on('exit', died)
      child.send({ mutant, tests, bail, many, told })
    })
  }

  /**
   * Runs one test file without a mutant and, where it passes, with each of many in the same process. It ends early with
   * the process or when a mutant takes too long: the last one that was begun has then no `ok`.
   *
   * @param {readonly number[]} mutants
   * @param {string} test
   * @param {{ told: string, greenMs: number, timeoutMs: number }} how `told` a file for what is told, the times of the
   *   first run and of one mutant
   * @returns {Promise<{ isGreen: boolean, timedOut: boolean, begun: { id: number, ok?: boolean }[] }>} in their order
   */
  async runMany(mutants, test, { told, greenMs, timeoutMs }) {
    rmSync(told, { force: true })
    let seen = 0
    let since = performance.now()
    let timedOut = false
    const looking = setInterval(() => {
      const size = linesOf(told).length
      if (size !== seen) since = performance.now()
      seen = size
      if (performance.now() - since < (seen === 0 ? greenMs : timeoutMs)) return
      timedOut = true
      this.stop()
    }, LOOK_MS)
    const timeLimit = greenMs + mutants.length * timeoutMs
    const { files } = await this.run(0, [test], { bail: false, timeoutMs: timeLimit, many: mutants, told })
    clearInterval(looking)
    /** @type {Map<number, { id: number, ok?: boolean }>} */
    const begun = new Map()
    const lines = linesOf(told)
    for (const [place, line] of lines.entries()) {
      const { id, ok } = JSON.parse(line)
      begun.set(place - (ok === undefined ? 0 : 1), { id, ...(ok === undefined ? {} : { ok }) })
    }
    const isGreen = lines.length > 0 || (files.length > 0 && files.every(({ ok }) => ok))
    return { isGreen, timedOut, begun: [...begun.values()] }
  }

  /** Ends the process and what it has started. */
  stop() {
    const pid = this.#child?.pid
    this.#child = undefined
    if (pid === undefined) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // it has ended by itself
    }
  }

  async #start() {
    // a group of its own, so that forks that hang end with it
    // certificates that no test needs are read by every process, which takes longer than its own start
    delete this.#env.NODE_EXTRA_CA_CERTS
    const child = fork(PROGRAM, [], {
      cwd: this.#root,
      env: this.#env,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-4000)
    })
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Vitest did not start: ${said}`)), START_MS)
      child.once('message', () => {
        clearTimeout(timer)
        resolve(undefined)
      })
      child.once('exit', () => reject(new Error(`Vitest did not start: ${said}`)))
    })
    return child
  }
}

/** Whole lines of a file that may not be there yet. @param {string} path */
function linesOf(path) {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []
}
