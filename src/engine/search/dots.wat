;; Dot products of a query with many rows: sixteen signed bytes of a row at a time with as many 16-bit numbers of the query.
(module
  (import "m" "m" (memory 1))

  ;; Stores for each of `count` rows, at least 1, the dot product of its `stride` bytes with the query, as a 32-bit number
  ;; at `out`. `rows` and `out` are addresses, `stride` is a multiple of 16; the query is at address 0.
  (func (export "dots")
    (param $rows i32) (param $count i32) (param $stride i32) (param $out i32)
    (local $rowEnd i32) (local $at i32) (local $queryAt i32) (local $sum v128)
    (loop $eachRow
      (local.set $rowEnd (i32.add (local.get $rows) (local.get $stride)))
      (local.set $at (local.get $rows))
      (local.set $queryAt (i32.const 0))
      (local.set $sum (v128.const i32x4 0 0 0 0))
      (loop $eachSixteen
        ;; eight bytes as 16 bits each, times eight numbers of the query: four sums of pairs
        (local.set $sum
          (i32x4.add
            (i32x4.add
              (local.get $sum)
              (i32x4.dot_i16x8_s
                (i16x8.extend_low_i8x16_s (v128.load align=1 (local.get $at)))
                (v128.load align=1 (local.get $queryAt))))
            (i32x4.dot_i16x8_s
              (i16x8.extend_high_i8x16_s (v128.load align=1 (local.get $at)))
              (v128.load offset=16 align=1 (local.get $queryAt)))))
        (local.set $queryAt (i32.add (local.get $queryAt) (i32.const 32)))
        (br_if $eachSixteen
          (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $rowEnd))))
      (i32.store
        (local.get $out)
        (i32.add
          (i32.add
            (i32.add
              (i32x4.extract_lane 0 (local.get $sum))
              (i32x4.extract_lane 1 (local.get $sum)))
            (i32x4.extract_lane 2 (local.get $sum)))
          (i32x4.extract_lane 3 (local.get $sum))))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $rows (local.get $rowEnd))
      (br_if $eachRow (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))))
