import { expect, test } from 'vitest'
import { Register } from './history.js'
import { WEIGHTS } from './operations/all.js'
import { drawSchedule, FAULTS } from './schedule.js'

const at = (from: number, to = from) => ({ from, to })

test('what was acknowledged before a read hides what had ended before it', () => {
  const register = new Register('a')
  register.done(register.begin('b', 10), 20)
  expect(register.possible(at(15))).toEqual(['a', 'b'])
  expect(register.possible(at(21))).toEqual(['b'])
})

test('a read that overlaps a write may see it or not', () => {
  const register = new Register('a')
  register.begin('b', 10)
  expect(register.possible(at(5))).toEqual(['a'])
  expect(register.possible(at(30))).toEqual(['a', 'b'])
})

test('of two writes that overlap, either may be the last', () => {
  const register = new Register('a')
  const first = register.begin('b', 10)
  const second = register.begin('c', 12)
  register.done(second, 20)
  register.done(first, 22)
  expect(register.possible(at(30))).toEqual(['b', 'c'])
})

test('a write whose answer was lost may have happened, until a read has seen it or a later one hides it', () => {
  const register = new Register('a')
  register.lost(register.begin('b', 10), 20)
  expect(register.possible(at(30))).toEqual(['a', 'b'])
  register.seen('b', at(31))
  expect(register.possible(at(40))).toEqual(['b'])
  register.done(register.begin('c', 50), 60)
  expect(register.possible(at(70))).toEqual(['c'])
})

test('a refused write has left nothing', () => {
  const register = new Register('a')
  register.refused(register.begin('b', 10))
  expect(register.possible(at(30))).toEqual(['a'])
})

test('a seed draws the same operations and faults every time, and another seed others', () => {
  const draw = (seed: number) => drawSchedule({ seed, operations: 200, weights: WEIGHTS, faults: FAULTS })
  expect(draw(7)).toEqual(draw(7))
  expect(draw(8)).not.toEqual(draw(7))
  expect(draw(7).steps.flat()).toHaveLength(200)
  expect(draw(7).faults.length).toBeGreaterThan(3)
})
