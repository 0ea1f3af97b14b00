import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { removeFolder } from '../../../bench/lib/removed-folder.js'

interface Certificate {
  key: string
  cert: string
}

/** Two certificates for `localhost`: processes with `authority` trust one of them, and nobody trusts the other. */
export interface TestCertificates {
  trusted: Certificate
  untrusted: Certificate
  /** a file for `NODE_EXTRA_CA_CERTS` */
  authority: string
  remove(): void
}

/** The reason why certificates cannot be created here; else undefined. */
export const opensslTrouble = !execaSync('openssl', ['version'], { reject: false }).failed
  ? undefined
  : 'openssl is not here'

export function makeCertificates(): TestCertificates {
  const folder = mkdtempSync(join(tmpdir(), 'ks-certificates-'))
  const make = (name: string): Certificate => {
    const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)]
    const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost']
    const made = execaSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject],
      { reject: false },
    )
    if (made.failed) throw new Error(`openssl: ${made.stderr}`)
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  }
  return {
    trusted: make('trusted'),
    untrusted: make('untrusted'),
    authority: join(folder, 'trusted.pem'),
    remove: () => removeFolder(folder),
  }
}
