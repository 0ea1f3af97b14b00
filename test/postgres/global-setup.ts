import type { TestProject } from 'vitest/node'
import { migratePostgres } from '../../src/engine/store/postgres/migrate.js'
import { parseDatabaseAddress } from '../../src/local/database-address.js'
import {
  createTemplate,
  findServerPrograms,
  hasExtension,
  startServer,
  type TestServer,
} from '../helpers/postgres-server.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** folder of the server's socket; empty without a server */
    postgres: string | undefined
    /** whether that server has pgvector */
    pgvector: boolean
  }
}

/** Each project of a run loads this module separately, but all share one server. */
interface Shared {
  users: number
  server: Promise<TestServer | undefined> | undefined
}
const everywhere = globalThis as { ksTestServer?: Shared }
const shared: Shared = everywhere.ksTestServer ?? { users: 0, server: undefined }
everywhere.ksTestServer = shared

/** Starts one server for all files of the run, with a template database. */
export async function setup(project: TestProject): Promise<void> {
  shared.users += 1
  shared.server ??= start()
  project.provide('postgres', (await shared.server)?.folder)
  project.provide('pgvector', hasVectors())
}

function hasVectors(): boolean {
  const programs = findServerPrograms()
  return programs !== undefined && hasExtension(programs, 'vector')
}

async function start(): Promise<TestServer | undefined> {
  const programs = findServerPrograms()
  if (programs !== undefined) {
    const server = startServer(programs)
    await migratePostgres(parseDatabaseAddress(createTemplate(programs, server)))
    if (!hasVectors())
      process.stderr.write('pgvector is not installed: the tests of search in PostgreSQL are skipped\n')
    return server
  }
  const missing = 'PostgreSQL 15 or newer is not installed'
  if (process.env.CI === 'true' || process.env.KS_TEST_BACKEND === 'pg')
    throw new Error(`${missing}, and without it nothing says that the programs run there`)
  process.stderr.write(`${missing}: the tests of the project postgres are skipped\n`)
  return undefined
}

export async function teardown(): Promise<void> {
  shared.users -= 1
  if (shared.users === 0) (await shared.server)?.stop()
}
