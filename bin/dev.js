#!/usr/bin/env node
// `ks` from a working copy: builds what changed first, then runs it.
'use strict'
const { join } = require('node:path')

// completion takes what is built: nobody waits for a build at Tab
if (!require('./complete.js').completes(process.argv.slice(2), 'ks')) void run()

async function run() {
  const { buildIfStale } = await import('../scripts/build.js')
  buildIfStale()
  const { main } = await import('../dist/cli/main.js')
  await main(process.argv.slice(2), join(__dirname, '..', '/'))
}
