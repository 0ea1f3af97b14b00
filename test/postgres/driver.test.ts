import { inspect } from 'node:util'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KsError } from '../../src/contract/errors.js'
import { asDeployment } from '../../src/engine/base/tenant-scope.js'
import { MIGRATIONS, SCHEMA } from '../../src/engine/store/migrations.js'
import { CommitUnknown } from '../../src/engine/store/postgres/errors.js'
import { migratePostgres } from '../../src/engine/store/postgres/migrate.js'
import { Postgres } from '../../src/engine/store/postgres/postgres.js'
import { type Read, sql, type Write } from '../../src/engine/store/program.js'
import { findSpace, type SpaceRow } from '../../src/engine/store/rows/spaces.js'
import { addWorkspaceChange, getLastWorkspaceChange } from '../../src/engine/store/rows/workspaces.js'
import { parseDatabaseAddress } from '../../src/local/database-address.js'
import {
  addressOf,
  connect,
  createEmptyDatabase,
  createMigratedDatabase,
  hasServer,
  openPostgres,
} from '../helpers/postgres.js'
import { newSpace } from './backends.js'

/** Statements that the SQL of the engine does not have. */
const HELPERS = `
CREATE FUNCTION conflict() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$;
CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM pg_terminate_backend(pg_backend_pid());
  RETURN NULL;
END $$;
CREATE TABLE lost (id bigint);
CREATE CONSTRAINT TRIGGER lost AFTER INSERT ON lost DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION leave();
`
const pause = (seconds: number): Read<unknown> => sql.get('SELECT pg_sleep(?)', [seconds])

async function failure(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe.skipIf(!hasServer)('the PostgreSQL driver', () => {
  let name: string
  let driver: Postgres
  let client: Client
  let space: SpaceRow

  beforeAll(async () => {
    name = await createMigratedDatabase()
    client = await connect(name)
    await client.query(HELPERS)
    driver = await openPostgres(name)
    space = await newSpace(driver)
  })

  afterAll(async () => {
    await driver.close()
    await client.end()
  })

  it('reads one snapshot of the database, whatever is committed meanwhile', async () => {
    function* twice(): Read<number[]> {
      const before = yield* getLastWorkspaceChange(space.key)
      yield* pause(0.5)
      return [before, yield* getLastWorkspaceChange(space.key)]
    }
    const reading = driver.read(twice())
    await driver.read(pause(0.2))
    await driver.write(() => addWorkspaceChange(space.key))
    const [before, after] = await reading
    expect(after).toBe(before)
    expect(await driver.read(getLastWorkspaceChange(space.key))).toBe((before ?? 0) + 1)
  })

  it('refuses write statements in a read program', async () => {
    const write: Read<unknown> = sql.get('DELETE FROM spaces RETURNING key')
    await expect(driver.read(write)).rejects.toThrow()
    expect(await driver.read(findSpace(space.tenant, space.id))).toMatchObject({ key: space.key })
  })

  it('locks the row of a space before the first statement, so that nothing runs again', async () => {
    const { again } = driver.statementCounts
    const seen: string[] = []
    function* slow(which: string): Write<void> {
      const seq = yield* getLastWorkspaceChange(space.key)
      yield* pause(0.05)
      yield* sql.run('UPDATE workspace_changes SET seq = ? WHERE space_key = ?', [seq + 1, space.key])
      seen.push(which)
    }
    const before = await driver.read(getLastWorkspaceChange(space.key))
    await Promise.all(Array.from('abcdef', (which) => driver.write(() => slow(which), { lock: space.key })))
    expect(await driver.read(getLastWorkspaceChange(space.key))).toBe(before + 6)
    expect([seen.length, driver.statementCounts.again]).toEqual([6, again])
  })

  it('waits for the lock of a space for a limited time', async () => {
    const impatient = await openPostgres(name, 2, { lockTimeoutMs: 200 })
    const holding = driver.write(() => pause(1), { lock: space.key })
    await driver.read(pause(0.2))
    const refused = impatient.write(() => addWorkspaceChange(space.key), { lock: space.key })
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('too long') })
    await holding
    expect(await impatient.write(() => addWorkspaceChange(space.key), { lock: space.key })).toBeGreaterThan(0)
    await impatient.close()
  })

  it('runs a program ten times if conflicts continue, then fails with Retry-After', async () => {
    let runs = 0
    const failed = driver.write(function* () {
      runs += 1
      yield* addWorkspaceChange(space.key)
      yield* sql.get('SELECT conflict()')
    })
    await expect(failed).rejects.toMatchObject({ code: 'unavailable', retryAfter: expect.any(Number) })
    expect(runs).toBe(10)
  })

  it('counts the statements of an operation, over all of its programs', async () => {
    const counted = await driver.counting(async () => {
      await driver.read(getLastWorkspaceChange(space.key))
      await driver.write(() => addWorkspaceChange(space.key), { lock: space.key })
      return await driver.write(() => 7)
    })
    // The lock counts as one.
    expect(counted).toEqual({ value: 7, statements: 4, again: 0 })
  })

  it('counts a statement with many parameter lists once for each round trip', async () => {
    const lists = Array.from({ length: 501 }, () => [space.key])
    const once = await driver.counting(() =>
      driver.read(sql.allEach('SELECT seq FROM workspace_changes WHERE space_key = ?', lists.slice(1))),
    )
    const twice = await driver.counting(() =>
      driver.read(sql.allEach('SELECT seq FROM workspace_changes WHERE space_key = ?', lists)),
    )
    expect([once.statements, once.value.length, twice.statements, twice.value.length]).toEqual([1, 500, 2, 501])
  })

  it('runs a program again if one of many parameter lists fails with a conflict', async () => {
    let runs = 0
    const conflicting = driver.write(function* () {
      runs += 1
      yield* sql.allEach('SELECT CASE WHEN ? = 1 THEN conflict() END', [[0], [1], [2]])
    })
    await expect(conflicting).rejects.toMatchObject({ code: 'unavailable' })
    expect(runs).toBe(10)
  })

  it('stops after a failed statement, even if the program catches the error', async () => {
    const before = await driver.read(getLastWorkspaceChange(space.key))
    const deaf = driver.write(function* () {
      yield* addWorkspaceChange(space.key)
      try {
        yield* sql.run('INSERT INTO store (id) VALUES (?)', ['x'])
      } catch {
        return
      }
    })
    await expect(deaf).rejects.toThrow('continued after')
    expect(await driver.read(getLastWorkspaceChange(space.key))).toBe(before)
  })

  it('reports no cell values and no addresses in errors', async () => {
    const twice = await failure(
      driver.write(() => sql.run("INSERT INTO revoked_tokens VALUES ('private', 1), ('private', 2)")),
    )
    expect(inspect(twice, { depth: 9 })).toContain('23505')
    expect(inspect(twice, { depth: 9 })).not.toContain('private')
    const address = parseDatabaseAddress('postgres://ada:very-secret@127.0.0.1:1/none')
    expect(address.displayText).toBe('postgres://127.0.0.1:1/none')
    const away = await failure(Postgres.open({ address, application: 'ks-test', clock: Date.now }))
    expect(away).toMatchObject({ code: 'unavailable', message: 'the database does not answer' })
    expect(inspect(away, { depth: 9 })).not.toMatch(/very-secret|127\.0\.0\.1/)
    expect(await failure(Promise.resolve().then(() => parseDatabaseAddress('very-secret')))).toMatchObject({
      message: expect.not.stringContaining('very-secret'),
    })
  })

  it('answers 503 if all connections have been busy for two seconds', async () => {
    const small = await openPostgres(name, 1)
    const holding = small.read(pause(3.5))
    const refused = await failure(small.read(getLastWorkspaceChange(space.key)))
    expect(refused).toBeInstanceOf(KsError)
    expect(refused).toMatchObject({ code: 'unavailable', message: expect.stringContaining('busy') })
    await holding
    expect(await small.read(getLastWorkspaceChange(space.key))).toBeGreaterThan(0)
    await small.close()
  })

  it('repeats a write whose connection is lost before its commit, within its time limit', async () => {
    const before = await driver.read(getLastWorkspaceChange(space.key))
    let runs = 0
    const cut = (times: number, by: Postgres) => {
      runs = 0
      return by.write(() => {
        const isCut = runs++ < times
        return (function* () {
          yield* addWorkspaceChange(space.key)
          if (isCut) yield* sql.get('SELECT pg_terminate_backend(pg_backend_pid())')
        })()
      })
    }
    await cut(2, driver)
    expect([runs, await driver.read(getLastWorkspaceChange(space.key))]).toEqual([3, before + 1])
    const hasty = await openPostgres(name, 2, { retryMs: 0 })
    await expect(cut(1, hasty)).rejects.toMatchObject({ code: 'unavailable', retryAfter: expect.any(Number) })
    expect([runs, await driver.read(getLastWorkspaceChange(space.key))]).toEqual([1, before + 1])
    await hasty.close()
  })

  it('repeats a read on another connection if its connection was lost', async () => {
    const one = await openPostgres(name, 1)
    const before = await one.read(getLastWorkspaceChange(space.key))
    const backend = await one.read(sql.get<{ pid: number }>('SELECT pg_backend_pid() pid'))
    await client.query('SELECT pg_terminate_backend($1)', [backend?.pid])
    expect(await one.read(getLastWorkspaceChange(space.key))).toBe(before)
    await one.close()
  })

  it('reserves a connection for the heartbeat while requests use all others', async () => {
    const small = await openPostgres(name, 1)
    const holding = small.read(pause(1.5))
    const beat = await small.write(() => sql.returning<{ one: number }>('SELECT 1 one'), { isUrgent: true })
    expect(beat).toEqual([{ one: 1 }])
    await holding
    await small.close()
  })

  it('selects the writable host among several', async () => {
    const address = addressOf(name)
    const several = { ...address, hosts: ['postgres://ks@127.0.0.1:1/none', ...address.hosts] } as const
    const opened = await Postgres.open({ address: several, application: 'ks-test', clock: Date.now })
    expect(await asDeployment(() => opened.read(getLastWorkspaceChange(space.key)))).toBeGreaterThan(0)
    await opened.close()
  })

  it('answers 503 for a read whose connection is lost, and continues with another connection', async () => {
    const before = await driver.read(getLastWorkspaceChange(space.key))
    const reading = failure(
      driver.read(
        (function* () {
          yield* getLastWorkspaceChange(space.key)
          yield* pause(5)
        })(),
      ),
    )
    await driver.read(pause(0.2))
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND application_name = 'ks-test' AND datname = current_database()",
    )
    expect(await reading).toMatchObject({ code: 'unavailable' })
    expect(await driver.read(getLastWorkspaceChange(space.key))).toBe(before)
  })

  it('reports an unknown outcome if the connection is lost during a commit', async () => {
    const lost = await failure(driver.write(() => sql.run('INSERT INTO lost VALUES (1)')))
    expect(lost).toBeInstanceOf(CommitUnknown)
    expect(await driver.read(getLastWorkspaceChange(space.key))).toBeGreaterThan(0)
  })

  it('repeats a statement that the connection prepared before the schema changed', async () => {
    const one = await openPostgres(name, 1)
    const all = () => one.write(() => sql.returning('DELETE FROM lost WHERE id = 7 RETURNING *'))
    const read = () => one.read(sql.all('SELECT * FROM lost'))
    expect([await all(), await read()]).toEqual([[], []])
    await client.query('ALTER TABLE lost ADD COLUMN later bigint')
    expect(await all()).toEqual([])
    expect(await read()).toEqual([])
    expect(one.statementCounts.again).toBe(1)
    await one.close()
  })

  it('leaves no transaction open after failed statements', async () => {
    await failure(driver.read(sql.get('SELECT 1 FROM nowhere')))
    await failure(driver.write(() => sql.run('INSERT INTO store (id) VALUES (?)', ['x'])))
    await driver.read(pause(0.1))
    const open = async () => {
      const { rows } = await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
      )
      return rows
    }
    // The end of a read is not awaited.
    await expect.poll(open).toEqual([])
  })
})

describe.skipIf(!hasServer)('a PostgreSQL database', () => {
  it('gets the newest schema once, even if several processes migrate it concurrently', async () => {
    const name = await createEmptyDatabase()
    expect(await failure(openPostgres(name))).toMatchObject({ message: expect.stringContaining('no schema') })
    const schemas = await Promise.all(Array.from({ length: 3 }, () => migratePostgres(addressOf(name))))
    expect(schemas.map(({ to }) => to)).toEqual(schemas.map(() => SCHEMA))
    expect(schemas.filter(({ from }) => from === undefined)).toHaveLength(1)
    await (await openPostgres(name)).close()
  })

  it('keeps its schema while gateways with that schema are alive', async () => {
    const name = await createMigratedDatabase()
    const client = await connect(name)
    const beat = 'extract(epoch FROM clock_timestamp()) * 1000'
    await client.query(`INSERT INTO gateways (id, started_at, beat_at) VALUES ('one', ${beat}, ${beat})`)
    const steps = [...MIGRATIONS, { sqlite: '', postgres: 'ALTER TABLE spaces ADD colour text' }]
    expect(await failure(migratePostgres(addressOf(name), { steps }))).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('stop them'),
    })
    await client.query('DELETE FROM gateways')
    expect(await migratePostgres(addressOf(name), { steps })).toEqual({ from: SCHEMA, to: SCHEMA + 1 })
    expect((await client.query('SELECT colour FROM spaces')).rows).toEqual([])
    await client.end()
  })

  it('with a schema before the first supported schema is refused with instructions', async () => {
    const name = await createMigratedDatabase()
    const client = await connect(name)
    await client.query('UPDATE schema_version SET version = 47')
    await client.end()
    const refused = {
      code: 'unavailable',
      message: expect.stringMatching(/has schema 47, .*opens schema 48 .*ks bundle export/),
    }
    expect(await failure(openPostgres(name))).toMatchObject(refused)
    expect(await failure(migratePostgres(addressOf(name)))).toMatchObject(refused)
  })

  it('with a later schema is refused and not changed', async () => {
    const name = await createMigratedDatabase()
    const client = await connect(name)
    await client.query('UPDATE schema_version SET version = $1', [SCHEMA + 1])
    await client.end()
    expect(await failure(openPostgres(name))).toMatchObject({ message: expect.stringContaining('newer version') })
    expect(await failure(migratePostgres(addressOf(name)))).toMatchObject({
      message: expect.stringContaining('newer version'),
    })
  })

  it('with a locale other than C is refused', async () => {
    const client = await connect('postgres')
    const name = `sorted_${Date.now()}`
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'`)
    await client.end()
    expect(await failure(migratePostgres(addressOf(name)))).toMatchObject({
      message: expect.stringContaining("LC_COLLATE 'C'"),
    })
  })

  it('can get its password from a file, and its displayed address has no user and no password', () => {
    const address = parseDatabaseAddress(
      'postgres://ada:old@db.internal:5433/ks?sslmode=verify-full',
      '/run/secrets/db',
    )
    expect(address.displayText).toBe('postgres://db.internal:5433/ks')
    expect(address.hosts).toEqual(['postgres://ada@db.internal:5433/ks?sslmode=verify-full'])
    expect(address.password).toBeTypeOf('function')
  })
})
