#!/usr/bin/env node
// `ks` from a working copy: builds the changed files first, then runs it.
'use strict'
const { join } = require('node:path')

// completion uses the existing build: Tab must not wait for a build
if (!require('./complete.js').handleCompletion(process.argv.slice(2), 'ks')) void run()

async function run() {
  const { buildIfStale } = await import('../scripts/build.js')
  buildIfStale()
  const { main } = await import('../dist/cli/main.js')
  await main(process.argv.slice(2), join(__dirname, '..', '/'))
}
