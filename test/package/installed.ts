import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { execa } from 'execa'
import { removeFolder } from '../../bench/lib/removed-folder.js'

export const ROOT = resolve(import.meta.dirname, '../..')

/** The files that `npm pack` needs. It runs in a copy, because it changes `package.json`. */
const OF_CHECKOUT = [
  ...['package.json', 'package-lock.json', 'README.md', 'LICENSE', 'tsconfig.json', 'oclif.manifest.json', '.npmrc'],
  ...['bin', 'dist', 'docs', 'scripts', 'src'],
]

export interface Installed {
  /** the checkout that was packed */
  checkout: string
  tarball: string
  /** the installation prefix, with `bin`, `lib` and `share` */
  prefix: string
  /** the installed folder of the package */
  folder: string
  /** the output of npm */
  said: string
  home: string
  run(program: string, ...args: string[]): Promise<Ran>
  write(path: string, content: string | Uint8Array): Promise<void>
  end(): Promise<void>
}

export interface Ran {
  stdout: string
  stderr: string
  code: number | undefined
}

/** Packs this checkout and installs the file like a user on an empty machine: no registry, no cache. */
export async function packAndInstall(): Promise<Installed> {
  const place = mkdtempSync(join(tmpdir(), 'ks-package-'))
  const [checkout, prefix, home, packer] = ['checkout', 'prefix', 'home', 'packer'].map((name) => join(place, name))
  for (const folder of [checkout, prefix, home, packer]) mkdirSync(folder)
  // Keeps the times of the files, which show that a build is current.
  await execa('cp', ['-a', ...OF_CHECKOUT.map((name) => join(ROOT, name)), checkout])
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  const as = (of: string) => ({ extendEnv: false, stripFinalNewline: false, env: environment(of) }) as const
  const packed = await execa('npm', ['pack', '--json', '--pack-destination', place], { ...as(packer), cwd: checkout })
  const [{ filename }] = JSON.parse(packed.stdout)
  const tarball = join(place, filename)
  const install = ['install', '-g', '--offline', '--prefix', prefix, tarball]
  const installed = await execa('npm', install, { ...as(home), cwd: home, all: true })
  const run = async (program: string, ...args: string[]): Promise<Ran> => {
    const options = { ...as(home), cwd: home, input: '', reject: false, timeout: 120_000 } as const
    const { stdout, stderr, exitCode } = await execa(join(prefix, 'bin', program), args, options)
    return { stdout, stderr, code: exitCode }
  }
  return {
    checkout,
    tarball,
    prefix,
    folder: join(prefix, 'lib', 'node_modules', 'knowledge-spaces'),
    said: installed.all,
    home,
    run,
    write: (path, content) => writeBelow(join(home, path), content),
    end: async () => {
      await run('ks', 'daemon', 'stop')
      removeFolder(place)
    },
  }
}

async function writeBelow(path: string, content: string | Uint8Array): Promise<void> {
  const { mkdir, writeFile } = await import('node:fs/promises')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** Only PATH of the caller's environment. */
function environment(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8', npm_config_update_notifier: 'false' }
}

export interface Found {
  path: string
  /** on disk, in complete blocks, like `du` */
  bytes: number
}

export function filesOf(folder: string): Found[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [{ path, bytes: lstatSync(path).blocks * 512, isFile: entry.isFile() }]
      .filter(({ isFile }) => isFile)
      .map(({ bytes }) => ({ path, bytes }))
  })
}

/** The files that contain a text. */
export function holding(files: readonly Found[], text: string): string[] {
  const bytes = Buffer.from(text)
  return files.filter(({ path }) => readFileSync(path).includes(bytes)).map(({ path }) => path)
}
