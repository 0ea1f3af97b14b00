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
  'test/commands/documented-commands.test.ts',
  'test/daemon/damaged-rows.test.ts',
  'test/engine/integrity/fsck.test.ts',
  'test/conformance/kept.test.ts',
  'test/engine/search/indexes.test.ts',
  'test/engine/parse/needles.test.ts',
  'test/daemon/setting-effects.test.ts',
  'test/engine/bundles/hostile.test.ts',
  'test/engine/parse/pdf-bombs.test.ts',
  'test/engine/compile/provider-outage.test.ts',
  'test/engine/search/search-indexes.test.ts',
  'test/engine/parse/hostile-kinds.test.ts',
  'test/engine/research/limits.test.ts',
  'test/kchat/chat.test.ts',
  // of the second group
  'test/console/every-page.test.ts',
  'test/crash/reading-on-killed.test.ts',
  'test/package/package.test.ts',
  'test/crash/daemon-killed.test.ts',
  'test/crash/index-rebuild.test.ts',
  'test/crash/research-killed.test.ts',
  'test/faults/crowds.test.ts',
  'test/crash/embedding-migration-killed.test.ts',
  'test/crash/watch-killed.test.ts',
  'test/console/keyboard.test.ts',
  'test/faults/poison.test.ts',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((path) => moduleId.endsWith(path))
      return found === -1 ? LONG.length : found
    }
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

interface ProjectTimes {
  testTimeout: number
  setupFiles?: string[]
  globalSetup?: string[]
  /** projects of one group share the workers; a later group starts when the earlier ones are done */
  group: number
  maxWorkers: number
}

const isOnServer = process.env.KS_TEST_BACKEND === 'pg'

/**
 * Tests of engine and daemon that a run with `KS_TEST_BACKEND=pg` leaves out: those that have no database, and those
 * of what only a file does or suffers. Single ones of other files say `runIf(isFile)`.
 */
const NO_SERVER = [
  // no database
  'test/engine/{egress,models,parse,search}/**',
  // the file: its pages, its log, its schema's history, what stands beside it
  'test/engine/storage/**',
  'test/daemon/{network-disk,store-refused}.test.ts',
  // cells that lost their form, which a file's driver compares (the server has its checksums)
  'test/{daemon,engine/integrity}/damaged-rows.test.ts',
  // disks that are full
  'test/engine/full-disk.test.ts',
  'test/daemon/full-disk*.test.ts',
  // statements and commits of SQLite, counted or explained
  'test/engine/compile/{few-writes,large-versions}.test.ts',
  'test/engine/jobs/many-jobs.test.ts',
  'test/engine/query/{shared-commits,statements}.test.ts',
]

/** One server of PostgreSQL for the run: where engines are to work on it, or always. */
const SERVER = ['test/postgres/global-setup.ts']
const SERVER_IF_ASKED = isOnServer ? SERVER : []
const LEFT_OUT = isOnServer ? NO_SERVER : []

/** More than processors, because tests with processes and sockets wait for a third of their time. */
const MIXED = { group: 0, maxWorkers: 3 }
/** Tests that kill processes and break disks start many processes each. */
const HARSH = { group: 1, maxWorkers: 2 }

function project(name: string, include: string[], exclude: string[], of: ProjectTimes) {
  const { testTimeout, setupFiles = [], globalSetup = [], group, maxWorkers } = of
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude,
      setupFiles,
      globalSetup,
      testTimeout,
      hookTimeout: Math.max(testTimeout, 30 * SECOND),
      sequence: { groupOrder: group },
      maxWorkers,
    },
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    env: { KS_CHECK_RESPONSES: '1', NO_COLOR: '1' },
    // what is waited for comes when the machine has time for it: only a test that hangs comes to these ends
    expect: { poll: { timeout: 60 * SECOND } },
    projects: [
      project('unit', ['test/**/*.test.ts'], Object.values(FOLDERS).flat(), { testTimeout: 60 * SECOND, ...MIXED }),
      project('engine', FOLDERS.engine, LEFT_OUT, {
        testTimeout: 120 * SECOND,
        setupFiles: ['test/programs-run-twice.ts'],
        globalSetup: SERVER_IF_ASKED,
        ...MIXED,
      }),
      project('repo', FOLDERS.repo, [], { testTimeout: 120 * SECOND, ...MIXED }),
      project('postgres', FOLDERS.postgres, [], {
        testTimeout: 300 * SECOND,
        globalSetup: SERVER,
        ...MIXED,
      }),
      project('daemon', FOLDERS.daemon, LEFT_OUT, {
        testTimeout: 120 * SECOND,
        globalSetup: SERVER_IF_ASKED,
        ...MIXED,
      }),
      project('cli', FOLDERS.cli, [], { testTimeout: 120 * SECOND, ...MIXED }),
      project('package', FOLDERS.package, [], { testTimeout: 300 * SECOND, ...HARSH }),
      // a browser and a daemon each
      project('console', FOLDERS.console, [], { testTimeout: 300 * SECOND, ...HARSH }),
      project('crash', FOLDERS.crash, [], { testTimeout: 600 * SECOND, ...HARSH }),
      // whole deployments, for minutes: only `npm run cluster` has them
      ...(process.env.KS_CLUSTER === '1'
        ? [project('cluster', FOLDERS.cluster, [], { testTimeout: 600 * SECOND, ...HARSH })]
        : []),
      project('faults', FOLDERS.faults, [], { testTimeout: 300 * SECOND, ...HARSH }),
    ],
  },
})
