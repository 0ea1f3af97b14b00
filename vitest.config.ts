import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const SECOND = 1000

// Every Node reads the certificates that this names before it does anything, which takes longer than its own start. No
// test leaves the machine; those that are about certificates name their own.
delete process.env.NODE_EXTRA_CA_CERTS

/** Folders of the tests that start processes or real servers; everything else under `test/` is a unit test. */
const FOLDERS = {
  engine: ['test/engine/**/*.test.ts', 'test/suites/**/*.test.ts'],
  daemon: ['test/daemon/**/*.test.ts', 'test/conformance/**/*.test.ts'],
  cli: ['test/cli/**/*.test.ts', 'test/commands/**/*.test.ts', 'test/kchat/**/*.test.ts', 'test/scripts/**/*.test.ts'],
  crash: ['test/crash/**/*.test.ts'],
  faults: ['test/faults/**/*.test.ts'],
  repo: ['test/repo/**/*.test.ts'],
  postgres: ['test/postgres/**/*.test.ts'],
  cluster: ['test/cluster/**/*.test.ts'],
  package: ['test/package/**/*.test.ts'],
  console: ['test/console/**/*.test.ts'],
}

/** Files that take longest, the longest first: begun last they would hold up the end, with the other workers idle. */
const LONG = [
  'test/repo/programs.test.ts',
  'test/commands/documented-commands.test.ts',
  'test/commands/json-output.test.ts',
  'test/daemon/damaged-rows.test.ts',
  'test/engine/upkeep/integrity/fsck.test.ts',
  'test/conformance/kept.test.ts',
  'test/engine/search/indexes.test.ts',
  'test/engine/readers/needles.test.ts',
  'test/daemon/setting-effects.test.ts',
  'test/daemon/idempotency/killed.test.ts',
  'test/daemon/attacks/amplification.test.ts',
  'test/daemon/life.test.ts',
  'test/engine/upkeep/bundles/hostile.test.ts',
  'test/engine/readers/pdf-bombs.test.ts',
  'test/engine/ingest/compile/provider-outage.test.ts',
  'test/engine/search/search-indexes.test.ts',
  'test/engine/readers/hostile-kinds.test.ts',
  'test/engine/answers/research/limits.test.ts',
  'test/kchat/chat-terminal.test.ts',
  'test/kchat/chat.test.ts',
  'test/commands/completion.test.ts',
  'test/commands/mcp.test.ts',
  // of those that wait
  'test/crash/reading-on-killed.test.ts',
  'test/package/package.test.ts',
  'test/console/every-page.test.ts',
  'test/faults/kill-sweep.test.ts',
  'test/crash/daemon-killed.test.ts',
  'test/crash/watch-killed.test.ts',
  'test/crash/index-rebuild.test.ts',
  'test/crash/embedding-migration-killed.test.ts',
  'test/faults/poison.test.ts',
  'test/crash/simulation.test.ts',
  'test/faults/crowds.test.ts',
  'test/crash/research-killed.test.ts',
  'test/crash/integrity-killed.test.ts',
  'test/faults/stop.test.ts',
  'test/crash/bucket-killed.test.ts',
  'test/crash/describing-killed.test.ts',
  'test/crash/index-process-killed.test.ts',
  'test/faults/provider-failures.test.ts',
  'test/faults/memory-ceiling.test.ts',
  'test/console/keyboard.test.ts',
]

/**
 * What `npm test` leaves out, each with its reason; `npm run test:all` and `.ci/run` run all of it, and so does a run that
 * names files, projects or titles (`npm test -- test/crash`). A new file is in `npm test` unless it is written here.
 */
const SLOW: Readonly<Record<string, string>> = {
  'test/crash/**': 'kills daemons again and again',
  'test/faults/**': 'disks, clocks and providers that fail',
  'test/console/**': 'a browser and a daemon for each page',
  'test/package/**': 'packs and installs the program',
  'test/postgres/**': 'a server of PostgreSQL; programs and statements are the same on SQLite',
  'test/commands/!(exit-codes|names|own-files|usage).test.ts': 'processes of `ks` and a daemon for each file',
  'test/kchat/{apps,audio,chat,chat-*,conventions,variables}.test.ts': 'processes of `kchat` and a daemon',
  'test/scripts/**': 'builds and runs whole programs',
  'test/conformance/kept.test.ts': 'every route once more for documents that outlive their source',
  'test/daemon/attacks/{amplification,floods-of-names}.test.ts': 'floods of requests',
  'test/daemon/damaged-rows.test.ts': 'every route for every column of every table',
  'test/daemon/{life,store-refused}.test.ts':
    'processes of `ksd` that start, stop and are killed; `process-surface` starts one',
  'test/daemon/idempotency/killed.test.ts': 'a process that is killed in each kind of write',
  'test/daemon/recordings.test.ts': 'providers of speech that are slow or away, over restarts',
  'test/daemon/setting-effects.test.ts': 'a daemon for each setting',
  'test/daemon/{full-disk,full-disk-*}.test.ts': 'small disks that fill up',
  'test/engine/upkeep/bundles/copy.test.ts': 'a full space, exported and imported; `round-trip` does it once',
  'test/engine/upkeep/bundles/hostile.test.ts': 'dozens of damaged bundles',
  'test/engine/ingest/compile/{embedding-migrations,large-versions,provider-outage}.test.ts':
    'providers that are slow or away, documents of many thousand passages',
  'test/engine/knowledge/conflicts/space-conflicts.test.ts': 'compares whole spaces',
  'test/engine/knowledge/derived/pictures/described.test.ts':
    'an engine and a model that looks at pictures for each test',
  'test/engine/library/documents/contained.test.ts': 'an engine that reads archives in archives for each test',
  'test/engine/upkeep/integrity/foreign-files.test.ts': 'an engine for each kind of foreign file',
  'test/engine/upkeep/integrity/fsck.test.ts':
    'an engine with documents for each kind of damage; parts of it have tests below',
  'test/engine/library/objects/{engine-in-bucket,races}.test.ts': 'engines on a bucket, uploads against deletions',
  'test/engine/readers/{compiler,drawer,hostile,hostile-*,limits,pdf-bombs}.test.ts':
    'files that reach limits of time and memory',
  'test/engine/readers/needles.test.ts': 'reads hundreds of real documents',
  'test/engine/readers/ocr/{hostile-pictures,pictures,scanned-tables,scripts}.test.ts':
    'text recognition of many pages',
  'test/engine/retrieval/query/{model-rerank,modes}.test.ts': 'an engine with documents for each answer',
  'test/engine/answers/research/limits.test.ts': 'tasks that run until their limits',
  'test/engine/upkeep/retention/sweep.test.ts': 'clean-ups of whole stores',
  'test/engine/search/{damage,indexes,projection-files,search-indexes}.test.ts':
    'index processes that are killed, slowed and rebuilt; `space-index` and others test the parts',
  'test/engine/ingest/sources/{connectors,crawl,outsider}.test.ts': 'servers of every kind of source',
  'test/engine/store/object-contract.test.ts': 'files and buckets that fail in every way',
  'test/engine/knowledge/views/coverage.test.ts': 'topics of large spaces',
  'test/repo/programs.test.ts': 'checks the types of all sources once more',
}

// behind `vitest run`
const named = process.argv.slice(3)
/** Whether the run is of everything, or of what its arguments name. */
const isWhole =
  process.env.KS_TEST_ALL === '1' || named.some((word) => !word.startsWith('-') || /^(--project|-t|--testN)/.test(word))
const SKIPPED = isWhole ? [] : Object.keys(SLOW)
for (const pattern of SKIPPED)
  if (globSync(pattern).length === 0) throw new Error(`SLOW of vitest.config.ts: no file is ${pattern}`)

/** Projects whose files kill processes and break disks: they start many processes, and wait for most of their time. */
const WAITING = ['package', 'console', 'crash', 'cluster', 'faults']
/** The last part of a run has no file of those, so that none of them goes on alone at the end. */
const WITH_WAITING = 0.75

/**
 * The longest files of a project first. Files of a project follow one another, because a worker is used again for the next
 * file of its project only; files that wait are spread among them, so that the processors have work meanwhile.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const index = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((path) => moduleId.endsWith(path))
      return found === -1 ? LONG.length : found
    }
    const first = new Map<string, number>()
    for (const file of files)
      first.set(file.project.name, Math.min(first.get(file.project.name) ?? LONG.length, index(file)))
    const names = [...first].sort((a, b) => a[1] - b[1]).map(([name]) => name)
    const turn = ({ project }: TestSpecification) => names.indexOf(project.name)
    const byLength = (await super.sort(files)).sort((a, b) => index(a) - index(b))
    const waiting = byLength.filter(({ project }) => WAITING.includes(project.name))
    const busy = byLength.filter(({ project }) => !WAITING.includes(project.name)).sort((a, b) => turn(a) - turn(b))
    const between = Math.floor((WITH_WAITING * busy.length) / waiting.length)
    return [...busy.flatMap((file, n) => (n % between === 0 ? [...waiting.splice(0, 1), file] : [file])), ...waiting]
  }
}

/**
 * Files that need modules of their own: mocks of modules, and what looks at which modules are loaded. All others of a
 * project share the modules of their worker, because loading them takes longer than most tests.
 */
const ISOLATED = globSync('test/**/*.test.ts').filter((path) =>
  /^vi\.(mock|doMock)\(|^\/\/ isolated: /m.test(readFileSync(path, 'utf8')),
)

interface ProjectTimes {
  testTimeout: number
  /** every file has modules of its own */
  isolate?: boolean
  setupFiles?: string[]
  globalSetup?: string[]
}

const isOnServer = process.env.KS_TEST_BACKEND === 'pg'

/**
 * Tests of engine and daemon that a run with `KS_TEST_BACKEND=pg` leaves out: those that have no database, and those
 * of what only a file does or suffers. Single ones of other files say `runIf(isFile)`.
 */
const NO_SERVER = [
  // no database
  'test/engine/{models,readers,search}/**',
  // the file: its pages, its log, its schema's history, what stands beside it
  'test/engine/store/**',
  'test/daemon/{network-disk,store-refused}.test.ts',
  // cells that lost their form, which a file's driver compares (the server has its checksums)
  'test/{daemon,engine/upkeep/integrity}/damaged-rows.test.ts',
  // disks that are full
  'test/engine/full-disk.test.ts',
  'test/daemon/full-disk*.test.ts',
  // statements and commits of SQLite, counted or explained
  'test/engine/ingest/compile/{few-writes,large-versions}.test.ts',
  'test/engine/ingest/jobs/many-jobs.test.ts',
  'test/engine/retrieval/query/{shared-commits,statements}.test.ts',
]

/** One server of PostgreSQL for the run: where engines are to work on it, or always. */
const SERVER = ['test/postgres/global-setup.ts']
const SERVER_IF_ASKED = isOnServer ? SERVER : []
const LEFT_OUT = isOnServer ? NO_SERVER : []

/** One more than the processors of a usual server: tests with processes and sockets wait for a third of their time. */
const WORKERS = 3

function project(name: string, include: string[], exclude: string[], of: ProjectTimes) {
  const ignore = [...exclude, ...SKIPPED]
  const files = globSync(include, { ignore })
  const isolated = of.isolate === true ? files : files.filter((path) => ISOLATED.includes(path))
  const shared = files.length > isolated.length
  return [
    ...(shared ? [part(name, include, [...ignore, ...isolated], false, of)] : []),
    ...(isolated.length > 0 ? [part(shared ? `${name}-isolated` : name, isolated, [], true, of)] : []),
  ]
}

function part(name: string, include: string[], exclude: string[], isolate: boolean, of: ProjectTimes) {
  const { testTimeout, setupFiles = [], globalSetup = [] } = of
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude,
      isolate,
      setupFiles,
      globalSetup,
      testTimeout,
      hookTimeout: Math.max(testTimeout, 30 * SECOND),
    },
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'forks',
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    env: { KS_CHECK_RESPONSES: '1', NO_COLOR: '1' },
    // what is waited for comes when the machine has time for it: only a test that hangs comes to these ends
    expect: { poll: { timeout: 60 * SECOND } },
    projects: [
      ...project('unit', ['test/**/*.test.ts'], Object.values(FOLDERS).flat(), { testTimeout: 60 * SECOND }),
      ...project('engine', FOLDERS.engine, LEFT_OUT, {
        testTimeout: 120 * SECOND,
        setupFiles: ['test/programs-run-twice.ts'],
        globalSetup: SERVER_IF_ASKED,
      }),
      ...project('repo', FOLDERS.repo, [], { testTimeout: 120 * SECOND }),
      ...project('postgres', FOLDERS.postgres, [], {
        testTimeout: 300 * SECOND,
        globalSetup: SERVER,
        isolate: true,
      }),
      ...project('daemon', FOLDERS.daemon, LEFT_OUT, {
        testTimeout: 120 * SECOND,
        globalSetup: SERVER_IF_ASKED,
      }),
      ...project('cli', FOLDERS.cli, [], { testTimeout: 120 * SECOND }),
      ...project('package', FOLDERS.package, [], { testTimeout: 300 * SECOND, isolate: true }),
      // a browser and a daemon each
      ...project('console', FOLDERS.console, [], { testTimeout: 300 * SECOND, isolate: true }),
      ...project('crash', FOLDERS.crash, [], { testTimeout: 600 * SECOND, isolate: true }),
      // whole deployments, for minutes: only `npm run cluster` has them
      ...(process.env.KS_CLUSTER === '1'
        ? project('cluster', FOLDERS.cluster, [], { testTimeout: 600 * SECOND, isolate: true })
        : []),
      ...project('faults', FOLDERS.faults, [], { testTimeout: 300 * SECOND, isolate: true }),
    ],
  },
})
