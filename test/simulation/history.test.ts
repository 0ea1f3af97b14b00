import { expect, test } from 'vitest'
import { Register } from './history.js'
import { WEIGHTS } from './operations/all.js'
import { drawSchedule, FAULTS } from './schedule.js'

const at = (from: number, to = from) => ({ from, to })

test('a write that is acknowledged before a read hides earlier values', () => {
  const register = new Register('a')
  register.done(register.begin('b', 10), 20)
  expect(register.possible(at(15))).toEqual(['a', 'b'])
  expect(register.possible(at(21))).toEqual(['b'])
})

test('a read that overlaps a write may return the old or the new value', () => {
  const register = new Register('a')
  register.begin('b', 10)
  expect(register.possible(at(5))).toEqual(['a'])
  expect(register.possible(at(30))).toEqual(['a', 'b'])
})

test('either of two overlapping writes may be the last', () => {
  const register = new Register('a')
  const first = register.begin('b', 10)
  const second = register.begin('c', 12)
  register.done(second, 20)
  register.done(first, 22)
  expect(register.possible(at(30))).toEqual(['b', 'c'])
})

test('a write without a response may have happened, until a read has seen it or a later write hides it', () => {
  const register = new Register('a')
  register.lost(register.begin('b', 10), 20)
  expect(register.possible(at(30))).toEqual(['a', 'b'])
  register.seen('b', at(31))
  expect(register.possible(at(40))).toEqual(['b'])
  register.done(register.begin('c', 50), 60)
  expect(register.possible(at(70))).toEqual(['c'])
})

test('a refused write leaves nothing', () => {
  const register = new Register('a')
  register.refused(register.begin('b', 10))
  expect(register.possible(at(30))).toEqual(['a'])
})

test('a seed draws the same operations and faults each time, and another seed draws others', () => {
  const draw = (seed: number) => drawSchedule({ seed, operations: 200, weights: WEIGHTS, faults: FAULTS })
  expect(draw(7)).toEqual(draw(7))
  expect(draw(8)).not.toEqual(draw(7))
  expect(draw(7).steps.flat()).toHaveLength(200)
  expect(draw(7).faults.length).toBeGreaterThan(3)
})
