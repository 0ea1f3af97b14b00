import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { parseDatabaseAddress } from '../../src/local/database-address.js'
import { parseObjectLocation } from '../../src/local/object-location.js'
import { SETTINGS } from '../../src/local/settings.js'

interface Service {
  environment?: Record<string, string>
  secrets?: (string | { source: string })[]
  volumes?: string[]
  depends_on?: string[] | Record<string, unknown>
}

interface Compose {
  services: Record<string, Service>
  secrets: Record<string, { file: string }>
  volumes: Record<string, unknown>
}

const FOLDER = 'deploy'
const compose: Compose = parse(readFileSync(join(FOLDER, 'compose.yaml'), 'utf8'), { merge: true })
const services = Object.entries(compose.services)

describe('the deployment files', () => {
  it('contain only existing settings of the daemon with valid values', () => {
    const units = readdirSync(join(FOLDER, 'systemd')).map((name) =>
      readFileSync(join(FOLDER, 'systemd', name), 'utf8'),
    )
    const pages = [
      readFileSync('docs/scale-out.md', 'utf8'),
      readFileSync(join(FOLDER, 'Dockerfile'), 'utf8'),
      ...units,
    ]
    const named = pages.flatMap((text) => text.match(/KS_DAEMON_[A-Z_]+/g) ?? [])
    const given = services.flatMap(([, { environment = {} }]) => Object.keys(environment))
    const known: string[] = Object.values(SETTINGS).map(({ env }) => env)
    const unknown = [...named, ...given].filter(
      (name) => name.startsWith('KS_DAEMON_') && name !== 'KS_DAEMON_' && !known.includes(name),
    )
    expect(unknown).toEqual([])
    const { KS_DAEMON_BACKEND = '', KS_DAEMON_OBJECTS = '' } = compose.services['gateway-1']?.environment ?? {}
    expect(parseDatabaseAddress(KS_DAEMON_BACKEND).hosts).toHaveLength(2)
    expect(parseObjectLocation(KS_DAEMON_OBJECTS)).toMatchObject({ bucket: 'knowledge-spaces', prefix: '' })
  })

  it('allow gateways to confine the programs that read documents', () => {
    const unit = readFileSync(join(FOLDER, 'systemd', 'ksd@.service'), 'utf8')
    const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]?.split(' ') ?? []
    expect(setting('RestrictNamespaces').sort()).toEqual(['ipc', 'mnt', 'net', 'pid', 'user', 'uts'])
    expect(setting('RestrictAddressFamilies')).toContain('AF_NETLINK')
    // These settings prevent mounting /proc in a user namespace.
    for (const name of ['ProtectKernelTunables', 'ProtectKernelLogs', 'ProtectProc', 'ProcSubset'])
      expect(setting(name), name).toEqual([])
    expect(setting('SystemCallFilter')).toEqual([])
  })

  it('reference only existing services, secrets, volumes and files', () => {
    const missing: string[] = []
    const want = (is: boolean, what: string) => void (is || missing.push(what))
    for (const [name, { secrets = [], volumes = [], depends_on = [] }] of services) {
      for (const one of secrets) {
        const secret = typeof one === 'string' ? one : one.source
        want(secret in compose.secrets, `${name}: secret ${secret}`)
      }
      for (const one of Array.isArray(depends_on) ? depends_on : Object.keys(depends_on))
        want(one in compose.services, `${name}: service ${one}`)
      for (const volume of volumes) {
        const [from = ''] = volume.split(':')
        want(from.startsWith('.') ? existsSync(join(FOLDER, from)) : from in compose.volumes, `${name}: ${volume}`)
      }
    }
    const dockerfile = readFileSync(join(FOLDER, 'Dockerfile'), 'utf8')
    for (const [, path = ''] of dockerfile.matchAll(/COPY --from=build \/app\/(\S+)/g))
      want(['dist', 'node_modules', 'oclif.manifest.json'].includes(path) || existsSync(path), `Dockerfile: ${path}`)
    expect(missing).toEqual([])
  })

  it('create every secret only if it does not exist, in a folder that other users cannot enter', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ks-deploy-'))
    try {
      const made = join(folder, 'secrets')
      const read = () =>
        Object.fromEntries(readdirSync(made).map((name) => [name, readFileSync(join(made, name), 'utf8')]))
      execFileSync(join(FOLDER, 'secrets.sh'), [made])
      const first = read()
      expect(statSync(made).mode & 0o777).toBe(0o700)
      const wanted = Object.values(compose.secrets).map(({ file }) => file.replace('./secrets/', ''))
      expect(Object.keys(first).sort()).toEqual(wanted.sort())
      expect(Buffer.from(first['signing.key'] ?? '', 'base64url')).toHaveLength(32)
      expect(JSON.parse(first['s3-server.json'] ?? '')).toMatchObject({ identities: [{ name: 'ks' }] })
      execFileSync(join(FOLDER, 'secrets.sh'), [made])
      expect(read()).toEqual(first)
    } finally {
      removeFolder(folder)
    }
  })
})
