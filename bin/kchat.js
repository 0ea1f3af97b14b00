#!/usr/bin/env node
import { main } from '../dist/kchat/main.js'

await main(process.argv.slice(2))
