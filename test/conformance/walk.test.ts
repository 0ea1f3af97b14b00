import { describe } from 'vitest'
import { walk } from './walk.js'

describe('A01, A07, A08, A14: callers of every kind', () => {
  walk()
})
