/** Runs test files in a process of its own, and ends that process with all its children where they take too long. */
import { fork } from 'node:child_process'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('vitest-run.js', import.meta.url))
const START_MS = 120_000

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
   * @param {{ bail: boolean, timeoutMs: number }} how
   * @returns {Promise<Outcome>}
   */
  async run(mutant, tests, { bail, timeoutMs }) {
    this.#child ??= await this.#start()
    const child = this.#child
    /** @type {Outcome} */
    const outcome = { files: [], timedOut: false }
    return await new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        child.off('message', told)
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
      const told = (message) => {
        if (message.type === 'file') outcome.files.push({ ...message, file: relative(this.#root, message.file) })
        if (message.type !== 'done') return
        if (message.error !== undefined) outcome.error = message.error
        end()
      }
      child.on('message', told)
      child.on('exit', died)
      child.send({ mutant, tests, bail })
    })
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
