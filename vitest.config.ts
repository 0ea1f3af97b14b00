import { defineConfig } from 'vitest/config'

const SECOND = 1000

/** Folders of the tests that start processes or real servers; everything else under `test/` is a unit test. */
const FOLDERS = {
  engine: ['test/engine/**/*.test.ts', 'test/suites/**/*.test.ts'],
  daemon: ['test/daemon/**/*.test.ts', 'test/conformance/**/*.test.ts'],
  cli: ['test/cli/**/*.test.ts', 'test/commands/**/*.test.ts', 'test/kchat/**/*.test.ts', 'test/scripts/**/*.test.ts'],
  crash: ['test/crash/**/*.test.ts'],
  faults: ['test/faults/**/*.test.ts'],
  repo: ['test/repo/**/*.test.ts'],
}

interface ProjectTimes {
  testTimeout: number
  /** projects of one group share the workers; a later group starts when the earlier ones are done */
  group: number
  /** tests that kill processes and measure times get the machine for themselves */
  maxWorkers?: number
}

function project(name: string, include: string[], exclude: string[], { testTimeout, group, maxWorkers }: ProjectTimes) {
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude,
      testTimeout,
      hookTimeout: Math.max(testTimeout, 30 * SECOND),
      sequence: { groupOrder: group },
      ...(maxWorkers === undefined ? {} : { maxWorkers }),
    },
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    env: { KS_CHECK_RESPONSES: '1', NO_COLOR: '1' },
    projects: [
      project('unit', ['test/**/*.test.ts'], Object.values(FOLDERS).flat(), { testTimeout: 10 * SECOND, group: 0 }),
      project('engine', FOLDERS.engine, [], { testTimeout: 30 * SECOND, group: 0 }),
      project('repo', FOLDERS.repo, [], { testTimeout: 30 * SECOND, group: 0 }),
      project('daemon', FOLDERS.daemon, [], { testTimeout: 60 * SECOND, group: 1 }),
      project('cli', FOLDERS.cli, [], { testTimeout: 60 * SECOND, group: 1 }),
      project('crash', FOLDERS.crash, [], { testTimeout: 600 * SECOND, group: 2, maxWorkers: 1 }),
      project('faults', FOLDERS.faults, [], { testTimeout: 300 * SECOND, group: 3, maxWorkers: 1 }),
    ],
  },
})
