import type { TestProject } from 'vitest/node'
import { hasExtension, serverPrograms, startServer, type TestServer } from '../helpers/postgres-server.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** folder of the server's socket; nothing where there is no server */
    postgres: string | undefined
    /** whether that server has pgvector */
    pgvector: boolean
  }
}

let server: TestServer | undefined

/** One server for all files of the project. */
export function setup(project: TestProject): void {
  const programs = serverPrograms()
  if (programs !== undefined) server = startServer(programs)
  else if (process.env.CI === 'true')
    throw new Error('PostgreSQL 15 or newer is not installed, and without it nothing says that the programs run there')
  else process.stderr.write('PostgreSQL 15 or newer is not installed: the tests of the project postgres are skipped\n')
  project.provide('postgres', server?.folder)
  const hasVectors = programs !== undefined && hasExtension(programs, 'vector')
  if (!hasVectors && process.env.CI === 'true')
    throw new Error('pgvector is not installed, and without it nothing says that search in PostgreSQL works')
  if (!hasVectors) process.stderr.write('pgvector is not installed: the tests of search in PostgreSQL are skipped\n')
  project.provide('pgvector', hasVectors)
}

export function teardown(): void {
  server?.stop()
}
