import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The package that runs GGUF files: downloaded with the first model, no dependency of this package. */
export const RUNTIME = { name: 'node-llama-cpp', version: '3.21.1', license: 'MIT' } as const

/** Builds of the runtime, by platform and processor. None uses a graphics card, except Metal of Macs. */
const BUILDS: Readonly<Record<string, string>> = {
  'darwin-arm64': 'mac-arm64-metal',
  'darwin-x64': 'mac-x64',
  'linux-arm': 'linux-armv7l',
  'linux-arm64': 'linux-arm64',
  'linux-riscv64': 'linux-riscv64',
  'linux-x64': 'linux-x64',
  'win32-arm64': 'win-arm64',
  'win32-x64': 'win-x64',
}

/** The package with the build for a machine; `undefined` where there is none. */
export function getRuntimeBuild(platform: string = process.platform, arch: string = process.arch): string | undefined {
  const build = BUILDS[`${platform}-${arch}`]
  return build === undefined ? undefined : `@node-llama-cpp/${build}`
}

/** Folder of the runtime in the folder of models, one for each version. */
export function getRuntimeFolder(models: string): string {
  return join(models, 'runtime', `${RUNTIME.name}-${RUNTIME.version}`)
}

/** Path of the module to load in a folder of the runtime. */
export function getRuntimeEntry(folder: string): string {
  return join(folder, 'node_modules', RUNTIME.name, 'dist', 'index.js')
}

export function isRuntimeInstalled(models: string): boolean {
  return existsSync(getRuntimeEntry(getRuntimeFolder(models)))
}
