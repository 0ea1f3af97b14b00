import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createConsoleFiles } from '../../../src/daemon/console/files.js'
import { listenTcp, type TcpServer } from '../../../src/daemon/listen.js'
import { startEdge, type TestEdge } from '../../helpers/daemon.js'

/** Ways to write a path that leaves the folder of the console. */
const LEAVING = [
  '../secret.txt',
  '..%2fsecret.txt',
  '%2e%2e/secret.txt',
  '%252e%252e%252fsecret.txt',
  '..\\secret.txt',
  '..%5csecret.txt',
  'assets/../../secret.txt',
  'assets/..%2f..%2fsecret.txt',
  '%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd',
  '/etc/passwd',
  '//etc/passwd',
  'index.html%00../../secret.txt',
  '.hidden',
]

const folder = mkdtempSync(join(tmpdir(), 'ks-console-files-'))
const build = join(folder, 'build')
let edge: TestEdge
let tcp: TcpServer
beforeAll(async () => {
  mkdirSync(join(build, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), 'SECRET')
  writeFileSync(join(build, '.hidden'), 'SECRET')
  writeFileSync(join(build, 'index.html'), 'the page')
  writeFileSync(join(build, 'assets', 'a-1.js'), 'the program')
  edge = await startEdge()
  tcp = await listenTcp(edge.app, { listen: '127.0.0.1:0', insecure: false, anyPort: false })
})
afterAll(async () => {
  tcp.server.closeAllConnections()
  tcp.server.close()
  await edge.end()
  removeFolder(folder)
})

/** Sends the path as it is, where `fetch` would normalize it. */
function get(path: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(tcp.url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (data: string) => {
        text += data
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject).end()
  })
}

test.each(LEAVING)('A33: the path %s below the console leads to no file outside of its build', async (path) => {
  const files = createConsoleFiles(build)
  for (const form of [path, decodeURIComponent(path)]) {
    const text = await files.get(form, '').then(
      ({ bytes }) => Buffer.from(bytes).toString(),
      (error: unknown) => String(error),
    )
    expect(text).toMatch(/^the page$|no file .* of the console here$/)
  }
  const { status, text } = await get(`/console/${path}`)
  // A path that is no file is a route within the page.
  if (status === 200) expect(text).toContain('<div id="root">')
  else expect([400, 401, 404]).toContain(status)
  expect(text).not.toMatch(/SECRET|root:/)
})

test('the files of the console are served by their names', async () => {
  const { bytes, headers } = await createConsoleFiles(build).get('assets/a-1.js', '')
  expect([Buffer.from(bytes).toString(), headers['content-type']]).toEqual([
    'the program',
    'text/javascript; charset=utf-8',
  ])
})
