import { inspect } from 'node:util'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KsError } from '../../src/contract/errors.js'
import { asDeployment } from '../../src/engine/base/tenant-scope.js'
import { findSpace, type SpaceRow } from '../../src/engine/rows/spaces.js'
import { lastChange, nextChange } from '../../src/engine/rows/workspaces.js'
import { SCHEMA } from '../../src/engine/storage/migrations.js'
import { CommitUnknown } from '../../src/engine/storage/postgres/errors.js'
import { migratePostgres } from '../../src/engine/storage/postgres/migrate.js'
import { Postgres } from '../../src/engine/storage/postgres/postgres.js'
import { type Read, sql, type Write } from '../../src/engine/storage/program.js'
import { databaseAddress } from '../../src/local/database-address.js'
import { addressOf, connect, emptyDatabase, hasServer, migratedDatabase, openPostgres } from '../helpers/postgres.js'
import { newSpace } from './backends.js'

/** What a statement here does that programs of the engine have no words for. */
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

describe.skipIf(!hasServer)('a driver of PostgreSQL', () => {
  let name: string
  let driver: Postgres
  let client: Client
  let space: SpaceRow

  beforeAll(async () => {
    name = await migratedDatabase()
    client = await connect(name)
    await client.query(HELPERS)
    driver = await openPostgres(name)
    space = await newSpace(driver)
  })

  afterAll(async () => {
    await driver.close()
    await client.end()
  })

  it('reads one state of the database, whatever is committed meanwhile', async () => {
    function* twice(): Read<number[]> {
      const before = yield* lastChange(space.key)
      yield* pause(0.5)
      return [before, yield* lastChange(space.key)]
    }
    const reading = driver.read(twice())
    await driver.read(pause(0.2))
    await driver.write(() => nextChange(space.key))
    const [before, after] = await reading
    expect(after).toBe(before)
    expect(await driver.read(lastChange(space.key))).toBe((before ?? 0) + 1)
  })

  it('writes nothing in a read', async () => {
    const write: Read<unknown> = sql.get('DELETE FROM spaces RETURNING key')
    await expect(driver.read(write)).rejects.toThrow()
    expect(await driver.read(findSpace(space.tenant, space.id))).toMatchObject({ key: space.key })
  })

  it('holds the row of a space before the first statement, so that nothing runs again', async () => {
    const { again } = driver.done
    const seen: string[] = []
    function* slow(which: string): Write<void> {
      const seq = yield* lastChange(space.key)
      yield* pause(0.05)
      yield* sql.run('UPDATE workspace_changes SET seq = ? WHERE space_key = ?', [seq + 1, space.key])
      seen.push(which)
    }
    const before = await driver.read(lastChange(space.key))
    await Promise.all(Array.from('abcdef', (which) => driver.write(() => slow(which), { lock: space.key })))
    expect(await driver.read(lastChange(space.key))).toBe(before + 6)
    expect([seen.length, driver.done.again]).toEqual([6, again])
  })

  it('waits for the row of a space only so long', async () => {
    const impatient = await openPostgres(name, 2, { lockMs: 200 })
    const holding = driver.write(() => pause(1), { lock: space.key })
    await driver.read(pause(0.2))
    const refused = impatient.write(() => nextChange(space.key), { lock: space.key })
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('too long') })
    await holding
    expect(await impatient.write(() => nextChange(space.key), { lock: space.key })).toBeGreaterThan(0)
    await impatient.close()
  })

  it('runs a program ten times where there is always a conflict, and says that it can be tried later', async () => {
    let runs = 0
    const failed = driver.write(function* () {
      runs += 1
      yield* nextChange(space.key)
      yield* sql.get('SELECT conflict()')
    })
    await expect(failed).rejects.toMatchObject({ code: 'unavailable', retryAfter: expect.any(Number) })
    expect(runs).toBe(10)
  })

  it('counts the statements of an operation, over all of its programs', async () => {
    const counted = await driver.counting(async () => {
      await driver.read(lastChange(space.key))
      await driver.write(() => nextChange(space.key), { lock: space.key })
      return await driver.write(() => 7)
    })
    // the lock is one
    expect(counted).toEqual({ value: 7, statements: 4, again: 0 })
  })

  it('counts a text with many lists of values once for each way to the server', async () => {
    const lists = Array.from({ length: 501 }, () => [space.key])
    const once = await driver.counting(() =>
      driver.read(sql.allEach('SELECT seq FROM workspace_changes WHERE space_key = ?', lists.slice(1))),
    )
    const twice = await driver.counting(() =>
      driver.read(sql.allEach('SELECT seq FROM workspace_changes WHERE space_key = ?', lists)),
    )
    expect([once.statements, once.value.length, twice.statements, twice.value.length]).toEqual([1, 500, 2, 501])
  })

  it('says why the first of many lists of values failed, and runs again where that was a conflict', async () => {
    let runs = 0
    const conflicting = driver.write(function* () {
      runs += 1
      yield* sql.allEach('SELECT CASE WHEN ? = 1 THEN conflict() END', [[0], [1], [2]])
    })
    await expect(conflicting).rejects.toMatchObject({ code: 'unavailable' })
    expect(runs).toBe(10)
  })

  it('does not go on behind a statement that failed', async () => {
    const before = await driver.read(lastChange(space.key))
    const deaf = driver.write(function* () {
      yield* nextChange(space.key)
      try {
        yield* sql.run('INSERT INTO store (id) VALUES (?)', ['x'])
      } catch {
        return
      }
    })
    await expect(deaf).rejects.toThrow('went on after')
    expect(await driver.read(lastChange(space.key))).toBe(before)
  })

  it('tells no cells of rows and no addresses', async () => {
    const twice = await failure(
      driver.write(() => sql.run("INSERT INTO revoked_tokens VALUES ('private', 1), ('private', 2)")),
    )
    expect(inspect(twice, { depth: 9 })).toContain('23505')
    expect(inspect(twice, { depth: 9 })).not.toContain('private')
    const address = databaseAddress('postgres://ada:very-secret@127.0.0.1:1/none')
    expect(address.shown).toBe('postgres://127.0.0.1:1/none')
    const away = await failure(Postgres.open({ address, application: 'ks-test' }))
    expect(away).toMatchObject({ code: 'unavailable', message: 'the database does not answer' })
    expect(inspect(away, { depth: 9 })).not.toMatch(/very-secret|127\.0\.0\.1/)
    expect(await failure(Promise.resolve().then(() => databaseAddress('very-secret')))).toMatchObject({
      message: expect.not.stringContaining('very-secret'),
    })
  })

  it('refuses with 503 when all its connections have been busy for two seconds', async () => {
    const small = await openPostgres(name, 1)
    const holding = small.read(pause(3.5))
    const refused = await failure(small.read(lastChange(space.key)))
    expect(refused).toBeInstanceOf(KsError)
    expect(refused).toMatchObject({ code: 'unavailable', message: expect.stringContaining('busy') })
    await holding
    expect(await small.read(lastChange(space.key))).toBeGreaterThan(0)
    await small.close()
  })

  it('runs a write again whose connection is lost before its commit, for as long as it may wait', async () => {
    const before = await driver.read(lastChange(space.key))
    let runs = 0
    const cut = (times: number, by: Postgres) => {
      runs = 0
      return by.write(() => {
        const isCut = runs++ < times
        return (function* () {
          yield* nextChange(space.key)
          if (isCut) yield* sql.get('SELECT pg_terminate_backend(pg_backend_pid())')
        })()
      })
    }
    await cut(2, driver)
    expect([runs, await driver.read(lastChange(space.key))]).toEqual([3, before + 1])
    const hasty = await openPostgres(name, 2, { patienceMs: 0 })
    await expect(cut(1, hasty)).rejects.toMatchObject({ code: 'unavailable', retryAfter: expect.any(Number) })
    expect([runs, await driver.read(lastChange(space.key))]).toEqual([1, before + 1])
    await hasty.close()
  })

  it('reads on another connection where one that waited was lost', async () => {
    const one = await openPostgres(name, 1)
    const before = await one.read(lastChange(space.key))
    const backend = await one.read(sql.get<{ pid: number }>('SELECT pg_backend_pid() pid'))
    await client.query('SELECT pg_terminate_backend($1)', [backend?.pid])
    expect(await one.read(lastChange(space.key))).toBe(before)
    await one.close()
  })

  it('has a connection left for a heartbeat while requests hold all others', async () => {
    const small = await openPostgres(name, 1)
    const holding = small.read(pause(1.5))
    const beat = await small.write(() => sql.returning<{ one: number }>('SELECT 1 one'), { isUrgent: true })
    expect(beat).toEqual([{ one: 1 }])
    await holding
    await small.close()
  })

  it('finds the host that takes writes among several', async () => {
    const address = addressOf(name)
    const several = { ...address, hosts: ['postgres://ks@127.0.0.1:1/none', ...address.hosts] } as const
    const opened = await Postgres.open({ address: several, application: 'ks-test' })
    expect(await asDeployment(() => opened.read(lastChange(space.key)))).toBeGreaterThan(0)
    await opened.close()
  })

  it('refuses with 503 what its connection is lost under, and goes on with another', async () => {
    const before = await driver.read(lastChange(space.key))
    const reading = failure(
      driver.read(
        (function* () {
          yield* lastChange(space.key)
          yield* pause(5)
        })(),
      ),
    )
    await driver.read(pause(0.2))
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND application_name = 'ks-test' AND datname = current_database()",
    )
    expect(await reading).toMatchObject({ code: 'unavailable' })
    expect(await driver.read(lastChange(space.key))).toBe(before)
  })

  it('says so when nobody knows whether a commit was done', async () => {
    const lost = await failure(driver.write(() => sql.run('INSERT INTO lost VALUES (1)')))
    expect(lost).toBeInstanceOf(CommitUnknown)
    expect(await driver.read(lastChange(space.key))).toBeGreaterThan(0)
  })

  it('runs again on a connection that knows the schema as it is now', async () => {
    const one = await openPostgres(name, 1)
    const all = () => one.write(() => sql.returning('DELETE FROM lost WHERE id = 7 RETURNING *'))
    const read = () => one.read(sql.all('SELECT * FROM lost'))
    expect([await all(), await read()]).toEqual([[], []])
    await client.query('ALTER TABLE lost ADD COLUMN later bigint')
    expect(await all()).toEqual([])
    expect(await read()).toEqual([])
    expect(one.done.again).toBe(1)
    await one.close()
  })

  it('leaves no transaction open', async () => {
    await failure(driver.read(sql.get('SELECT 1 FROM nowhere')))
    await failure(driver.write(() => sql.run('INSERT INTO store (id) VALUES (?)', ['x'])))
    await driver.read(pause(0.1))
    const open = async () => {
      const { rows } = await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
      )
      return rows
    }
    // nobody waits for the end of a read
    await expect.poll(open).toEqual([])
  })
})

describe.skipIf(!hasServer)('a database', () => {
  it('is brought to the newest schema once, by however many at the same time', async () => {
    const name = await emptyDatabase()
    expect(await failure(openPostgres(name))).toMatchObject({ message: expect.stringContaining('no schema') })
    const schemas = await Promise.all(Array.from({ length: 3 }, () => migratePostgres(addressOf(name))))
    expect(schemas.map(({ to }) => to)).toEqual(schemas.map(() => SCHEMA))
    expect(schemas.filter(({ from }) => from === undefined)).toHaveLength(1)
    await (await openPostgres(name)).close()
  })

  it('is not brought to another schema while gateways work with the one that it has', async () => {
    const name = await migratedDatabase()
    const client = await connect(name)
    const beat = 'extract(epoch FROM clock_timestamp()) * 1000'
    await client.query(`INSERT INTO gateways (id, started_at, beat_at) VALUES ('one', ${beat}, ${beat})`)
    const steps = [{ sqlite: '', postgres: 'ALTER TABLE spaces ADD colour text' }]
    expect(await failure(migratePostgres(addressOf(name), { steps }))).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('stop them'),
    })
    await client.query('DELETE FROM gateways')
    expect(await migratePostgres(addressOf(name), { steps })).toEqual({ from: SCHEMA, to: SCHEMA + 1 })
    expect((await client.query('SELECT colour FROM spaces')).rows).toEqual([])
    await client.end()
  })

  it('of a schema before the first one is refused with what to do', async () => {
    const name = await migratedDatabase()
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

  it('of a later version is left alone', async () => {
    const name = await migratedDatabase()
    const client = await connect(name)
    await client.query('UPDATE schema_version SET version = $1', [SCHEMA + 1])
    await client.end()
    expect(await failure(openPostgres(name))).toMatchObject({ message: expect.stringContaining('newer version') })
    expect(await failure(migratePostgres(addressOf(name)))).toMatchObject({
      message: expect.stringContaining('newer version'),
    })
  })

  it('that sorts by a language is refused', async () => {
    const client = await connect('postgres')
    const name = `sorted_${Date.now()}`
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'`)
    await client.end()
    expect(await failure(migratePostgres(addressOf(name)))).toMatchObject({
      message: expect.stringContaining("LC_COLLATE 'C'"),
    })
  })

  it('gets its password from a file, which stands in no address', () => {
    const address = databaseAddress('postgres://ada:old@db.internal:5433/ks?sslmode=verify-full', '/run/secrets/db')
    expect(address.shown).toBe('postgres://db.internal:5433/ks')
    expect(address.hosts).toEqual(['postgres://ada@db.internal:5433/ks?sslmode=verify-full'])
    expect(address.password).toBeTypeOf('function')
  })
})
