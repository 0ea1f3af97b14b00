/**
 * A process that runs test files over files with switched mutants, as its parent tells it. It is ended with all of its
 * children when a mutant loops for ever. The files of the tree stay as they are: only what Vitest loads is another text.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVitest } from 'vitest/node'
import { instrument } from './instrument.js'
import { mutantsOf } from './mutants.js'

const MINUTE = 60_000

/** @type {{ root: string, targets: [string, number][] }} each file with the number of its first mutant */
const { root, targets } = JSON.parse(process.env.MUTATE_TARGETS ?? '{}')
const firstOf = new Map(targets.map(([file, first]) => [join(root, file), first]))

const switched = {
  name: 'switched-mutants',
  enforce: /** @type {const} */ ('pre'),
  /** @param {string} id */
  load(id) {
    const first = firstOf.get(id)
    if (first === undefined) return undefined
    const code = readFileSync(id, 'utf8')
    return instrument(code, mutantsOf(id, code), first)
  },
}

/** Says each file that is over: what it came to, and how long it took. */
const reporter = {
  onTestModuleEnd(module) {
    const failed = [...module.children.allTests('failed')].map(
      (test) => `${test.fullName}: ${test.result().errors?.[0]?.message ?? 'it failed'}`,
    )
    process.send?.({
      ...{ type: 'file', file: module.moduleId, ok: module.ok(), failed },
      milliseconds: module.diagnostic().duration + module.diagnostic().collectDuration,
    })
  },
}

const vitest = await createVitest(
  'test',
  {
    ...{ root, config: false, watch: false, pool: 'forks', maxWorkers: 1, fileParallelism: false },
    include: ['test/**/*.test.ts'],
    setupFiles: ['scripts/mutate/setup.js', 'test/setup.ts'],
    runner: join(root, 'scripts/mutate/many-runner.js'),
    env: { KS_CHECK_RESPONSES: '1', NO_COLOR: '1' },
    ...{ testTimeout: MINUTE, hookTimeout: MINUTE, reporters: [reporter] },
  },
  { plugins: [switched], logLevel: 'silent' },
)
await vitest.standalone()

process.on('message', ({ mutant, tests, bail, many, told }) => {
  // a process that runs tests gets what stands here
  process.env.MUTATE_MANY = many === undefined ? '' : JSON.stringify(many)
  process.env.MUTATE_TOLD = told ?? ''
  run(mutant, tests, bail).then(
    () => process.send?.({ type: 'done' }),
    (error) => process.send?.({ type: 'done', error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({ type: 'ready' })

async function run(mutant, tests, bail) {
  process.env.MUTATE_ACTIVE = String(mutant)
  vitest.config.bail = bail ? 1 : 0
  for (const project of vitest.projects) project.config.bail = bail ? 1 : 0
  const [project] = vitest.projects
  await vitest.runTestSpecifications(tests.map((file) => project.createSpecification(join(root, file))))
}
