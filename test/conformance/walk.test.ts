import { describe } from 'vitest'
import { walk } from './walk.js'

describe('callers of every kind', () => {
  walk()
})
