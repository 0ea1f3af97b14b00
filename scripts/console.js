/**
 * Builds the page of `ks console`, `dist/console`: few files with hashes in their names, and `.manifest.json`, which says what
 * loads what. A stamp of its sources makes a second build free, so that who changes the daemon does not wait for the page.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'

const SOURCES = join(ROOT, 'src', 'console')
const OUTPUT = join(ROOT, 'dist', 'console')
const STAMP = join(OUTPUT, '.built')

// the page is the same whoever builds it: under a test runner it would be made for debugging, with paths of this machine in it
process.env.NODE_ENV = 'production'

const fingerprint = fingerprintOfSources()
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== fingerprint) {
  const vite = await bundler()
  if (vite !== undefined) {
    await build(vite)
    writeFileSync(STAMP, fingerprint)
  }
}

async function build({ vite, react }) {
  await vite.build({
    root: SOURCES,
    base: '/console/',
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    mode: 'production',
    plugins: [react()],
    build: {
      outDir: OUTPUT,
      emptyOutDir: true,
      manifest: '.manifest.json',
      target: 'es2022',
      // nothing in the page is there twice: what it would spell out is blocked by its own policy
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // the page of visitors is small and has none of the console in it
      rollupOptions: { input: ['index.html', 'chat.html'].map((name) => join(SOURCES, name)) },
    },
  })
}

/** Both have native parts, which not every platform has; what is built elsewhere runs everywhere. */
async function bundler() {
  try {
    const [vite, plugin] = await Promise.all([import('vite'), import('@vitejs/plugin-react')])
    return { vite, react: plugin.default }
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : error
    process.stderr.write(`the console is not built: ${reason}\n`)
    return undefined
  }
}

/** By content, so that a checkout that was touched is not built again. */
function fingerprintOfSources() {
  const hash = createHash('sha256')
  const shared = ['src/client/routes.ts', 'src/contract/values.ts', 'src/contract/limits.ts'].map((name) =>
    join(ROOT, name),
  )
  for (const path of [...filesOf(SOURCES), ...shared, import.meta.filename].sort()) {
    hash.update(`${path.slice(ROOT.length)}\n`).update(readFileSync(path))
  }
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return hash.update(JSON.stringify({ dependencies, devDependencies })).digest('hex')
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
