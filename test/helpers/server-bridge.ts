import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Bindable, ReadStatement, WriteStatement } from '../../src/engine/base/statements.js'
import { AS_SQLITE } from '../../src/engine/store/postgres/values.js'
import { addressOf } from './postgres.js'
import { ROLE, SUPERUSER } from './postgres-server.js'
import { toServerStatements } from './server-sql.js'

const TIMEOUT_MS = 60_000

/** A worker with a connection for each database, which responds while the test's thread blocks. */
const THREAD = `
const { workerData: { port } } = require('node:worker_threads')
const pg = require('pg')
const clients = new Map()
const types = { getTypeParser: () => (text) => text }
async function clientOf(connectionString) {
  let client = clients.get(connectionString)
  if (client === undefined) {
    client = new pg.Client({ connectionString, types })
    client.on('error', () => clients.delete(connectionString))
    clients.set(connectionString, client)
    await client.connect()
  }
  return client
}
port.on('message', async ({ connectionString, text, values, end, turn }) => {
  let answer
  try {
    const client = await clientOf(connectionString)
    if (end) {
      clients.delete(connectionString)
      await client.end()
      answer = { rows: [] }
    } else {
      const { rows, fields, rowCount } = await client.query({ text, values, rowMode: 'array' })
      answer = { rows, fields: fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID })), rowCount }
    }
  } catch (error) {
    answer = { error: error.message, code: error.code }
  }
  port.postMessage(answer)
  Atomics.store(turn, 0, 1)
  Atomics.notify(turn, 0)
})
`

interface BridgeResponse {
  rows?: (string | null)[][]
  fields?: { name: string; type: number }[]
  rowCount?: number
  error?: string
}

let port: MessagePort | undefined

function getPort(): MessagePort {
  if (port !== undefined) return port
  const { port1, port2 } = new MessageChannel()
  const worker = new Worker(THREAD, { eval: true, workerData: { port: port2 }, transferList: [port2] })
  worker.unref()
  port1.unref()
  port = port1
  return port1
}

function requestNow(
  database: string,
  role: string,
  request: { text: string; values?: readonly Bindable[] } | { end: true },
): BridgeResponse {
  const turn = new Int32Array(new SharedArrayBuffer(4))
  const to = getPort()
  to.postMessage({ connectionString: addressOf(database, undefined, role).hosts[0], turn, ...request })
  if (Atomics.wait(turn, 0, 0, TIMEOUT_MS) === 'timed-out') throw new Error(`${database} gave no answer`)
  // The request of the blocked thread.
  const answer = receiveMessageOnPort(to)?.message as BridgeResponse
  if (answer.error !== undefined) throw new Error(answer.error)
  return answer
}

/** Runs one statement and blocks without a turn of the event loop. @returns the result as the SQLite driver gives it */
export function executeNow(database: string, { sql, values, verb }: ReadStatement | WriteStatement): unknown {
  const [text, ...more] = toServerStatements(sql)
  if (text === undefined || more.length > 0) throw new Error(`one statement at a time: ${sql}`)
  const { rows = [], fields = [], rowCount } = requestNow(database, SUPERUSER, { text, values })
  if (verb === 'run') return { changes: rowCount ?? 0 }
  const all = rows.map((cells) =>
    Object.fromEntries(cells.map((cell, index) => [fields[index].name, parseCell(fields[index].type, cell)])),
  )
  return verb === 'get' ? all[0] : all
}

function parseCell(type: number, cell: string | null): unknown {
  return cell === null ? null : AS_SQLITE.getTypeParser(type, 'text')(cell)
}

/** Runs a statement on the server itself. */
export function runCommand(database: string, text: string): void {
  requestNow(database, ROLE, { text })
}

/** Closes the connection of a database. */
export function disconnect(database: string): void {
  requestNow(database, SUPERUSER, { end: true })
}
