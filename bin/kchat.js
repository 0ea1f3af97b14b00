#!/usr/bin/env node
import { main } from '../dist/kchat/program.js'

await main(process.argv.slice(2))
