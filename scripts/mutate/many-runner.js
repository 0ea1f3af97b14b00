/**
 * How Vitest runs a test file: as ever, and then, in the same process, once for each of many mutants. To start a process
 * and to load what a test needs takes a hundred times as long as a quick test. Modules are evaluated anew each time.
 */
import { appendFileSync } from 'node:fs'
import { TestRunner, vi } from 'vitest'
import { startTests } from 'vitest/internal/browser'

/** kept over a reset, as by Vitest: its own modules */
const KEPT = /\/vitest\/dist\/|vitest-virtual-\w+\/dist|@vitest\/dist/

// biome-ignore lint/style/noDefaultExport: Vitest asks for one
export default class ManyRunner extends TestRunner {
  /** @param {import('vitest').RunnerTestFile[]} files */
  async onAfterRunFiles(files) {
    super.onAfterRunFiles()
    const { MUTATE_MANY = '', MUTATE_TOLD = '' } = process.env
    const [file] = files
    if (MUTATE_MANY === '' || file === undefined || file.result?.state !== 'pass') return
    const tell = (/** @type {object} */ what) => appendFileSync(MUTATE_TOLD, `${JSON.stringify(what)}\n`)
    const inner = new Inner(this)
    for (const id of JSON.parse(MUTATE_MANY)) {
      tell({ id })
      tell({ id, ok: await inner.passes(file.filepath, id) })
    }
  }
}

/** Runs a file with one mutant and tells nobody but its caller. */
class Inner {
  #runner
  #outer
  #isRed = false

  /** @param {ManyRunner} outer */
  constructor(outer) {
    this.#outer = outer
    this.#runner = Object.assign(Object.create(outer), {
      onCollected: async () => {},
      onTaskUpdate: async () => {},
      onAfterRunFiles: () => outer.snapshotClient.clear(),
      /** @param {import('vitest').RunnerTestCase} test */
      onBeforeRunTask: async (test) => {
        // one that fails is enough
        if (this.#isRed) test.mode = 'skip'
        await TestRunner.prototype.onBeforeRunTask.call(outer, test)
      },
      /** @param {import('vitest').RunnerTestCase} test */
      onAfterRunTask: (test) => {
        if (test.result?.state === 'fail') this.#isRed = true
        TestRunner.prototype.onAfterRunTask.call(outer, test)
      },
    })
  }

  /** @param {string} path @param {number} id */
  async passes(path, id) {
    process.env.MUTATE_ACTIVE = String(id)
    this.#isRed = false
    this.#reset()
    const [file] = await startTests([path], this.#runner)
    vi.useRealTimers()
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
    return !this.#isRed && file?.result?.state === 'pass'
  }

  #reset() {
    this.#outer.moduleRunner?.mocker?.reset()
    this.#outer.workerState.evaluatedModules.idToModuleMap.forEach((node, path) => {
      if (KEPT.test(path)) return
      node.promise = undefined
      node.exports = undefined
      node.evaluated = false
      node.importers.clear()
    })
  }
}
