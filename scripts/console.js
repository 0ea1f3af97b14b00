/**
 * Builds the page of `ks console` in `dist/console`: few files with hashes in their names, and `.manifest.json` with the
 * imports of each. A stamp of the sources prevents repeated builds while only other code changes.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles, ROOT } from './build.js'

const SOURCES = join(ROOT, 'src', 'console')
const OUTPUT = join(ROOT, 'dist', 'console')
const STAMP = join(OUTPUT, '.built')

// a test runner sets another value, for which the page would be built for debugging, with paths of this machine
process.env.NODE_ENV = 'production'

const fingerprint = computeFingerprint()
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== fingerprint) {
  const bundler = await loadBundler()
  if (bundler !== undefined) {
    await build(bundler)
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
      // the content security policy of the page blocks inlined assets
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // the page for visitors is a separate entry, so that it loads no code of the console
      rollupOptions: { input: ['index.html', 'chat.html'].map((name) => join(SOURCES, name)) },
    },
  })
}

/** Vite with its plugin for React; undefined on a platform that lacks their native parts. */
async function loadBundler() {
  try {
    const [vite, plugin] = await Promise.all([import('vite'), import('@vitejs/plugin-react')])
    return { vite, react: plugin.default }
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : error
    process.stderr.write(`the console is not built: ${reason}\n`)
    return undefined
  }
}

/** Hash of the contents of the sources: a file that was only touched needs no build. */
function computeFingerprint() {
  const hash = createHash('sha256')
  const shared = ['src/client/routes.ts', 'src/contract/values.ts', 'src/contract/limits.ts'].map((name) =>
    join(ROOT, name),
  )
  for (const path of [...listFiles(SOURCES), ...shared, import.meta.filename].sort()) {
    hash.update(`${path.slice(ROOT.length)}\n`).update(readFileSync(path))
  }
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return hash.update(JSON.stringify({ dependencies, devDependencies })).digest('hex')
}
