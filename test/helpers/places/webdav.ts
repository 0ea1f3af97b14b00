import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa, execaSync } from 'execa'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { until } from '../until.js'
import type { MissingReason, RemoteServer } from './place.js'

const MODULE = '/usr/lib/lighttpd/mod_webdav.so'

export function findMissingWebdav(): MissingReason {
  if (execaSync('lighttpd', ['-v'], { reject: false }).failed) return 'lighttpd is not installed'
  return existsSync(MODULE) ? undefined : 'lighttpd has no mod_webdav'
}

/** Starts lighttpd with mod_webdav; the source is the folder `/dav/`. */
export async function startWebdav(): Promise<RemoteServer & { folder: string }> {
  const home = mkdtempSync(join(tmpdir(), 'ks-dav-'))
  const folder = join(home, 'www', 'dav')
  mkdirSync(folder, { recursive: true })
  const port = await freePort('127.0.0.2')
  writeFileSync(join(home, 'users'), 'ada:secret\n')
  const log = join(home, 'access.log')
  writeFileSync(log, '')
  const config = join(home, 'lighttpd.conf')
  writeFileSync(
    config,
    `server.modules = ("mod_access", "mod_auth", "mod_authn_file", "mod_accesslog", "mod_webdav")
server.document-root = "${home}/www"
server.bind = "127.0.0.2"
server.port = ${port}
server.stat-cache-engine = "disable"
server.errorlog = "${home}/error.log"
accesslog.filename = "${log}"
accesslog.format = "%m %U"
mimetype.assign = (".md" => "text/markdown", "" => "application/octet-stream")
webdav.activate = "enable"
webdav.is-readonly = "enable"
auth.backend = "plain"
auth.backend.plain.userfile = "${home}/users"
auth.require = ("/dav/" => ("method" => "basic", "realm" => "notes", "require" => "valid-user"))
`,
  )
  const server = execa('lighttpd', ['-D', '-f', config], { stdio: 'ignore', reject: false })
  const uri = `http://127.0.0.2:${port}/dav/`
  await until(async () => (await fetch(uri).catch(() => undefined)) !== undefined)
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return {
    type: 'object-storage',
    uri,
    folder,
    metadata: { provider: 'webdav', credentials: { username: 'ada', password: 'secret' } },
    refusedMetadata: { provider: 'webdav', credentials: { username: 'ada', password: 'wrong' } },
    get requests() {
      return readFileSync(log, 'utf8').split('\n').filter(Boolean)
    },
    put: async (name, text) => write(name, text),
    remove: async (name) => rmSync(join(folder, name)),
    async end() {
      server.kill()
      await server
      removeFolder(home)
    },
  }
}

async function freePort(host: string): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, host, resolve))
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
