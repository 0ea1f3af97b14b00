import { describe } from 'vitest'
import { walkFromOutside } from './outside.js'

describe('a subject of the tenant outside of the scope of a source', () => {
  walkFromOutside()
})
