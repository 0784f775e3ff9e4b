import Testing
import Wire

/// Numbers come and go exactly, or are refused.
struct JSONNumberTests {
    @Test func integersAreExactUpToTheirLimits() throws {
        #expect(try read("9223372036854775807") == Int64.max)
        #expect(try read("-9223372036854775808") == Int64.min)
        #expect(try read("18446744073709551615") == UInt64.max)
        #expect(try read("9007199254740993") == Int64(9_007_199_254_740_993))
        #expect(try read("255") == UInt8.max)
        #expect(try read("-128") == Int8.min)
        #expect(try read("-0") == UInt64(0))
    }

    @Test func integersMayHaveAPointOrAnExponent() throws {
        #expect(try read("1.0") == 1)
        #expect(try read("1.50e1") == 15)
        #expect(try read("1e2") == 100)
        #expect(try read("1200e-2") == 12)
        #expect(try read("0e999999999999999999999") == 0)
        #expect(try read("9007199254740993.0") == Int64(9_007_199_254_740_993))
        #expect(try read("1e18") == Int64(1_000_000_000_000_000_000))
        #expect(try read("1e19") == UInt64(10_000_000_000_000_000_000))
    }

    @Test(
        "What an Int64 cannot hold is refused",
        arguments: [
            "9223372036854775808", "-9223372036854775809", "1e19", "1.5", "1e-1", "1e999999999999999999999", "99999999999999999999999",
        ])
    func noInt64(_ text: String) {
        #expect(throws: DecodingError.self) { try read(text) as Int64 }
    }

    @Test func numbersOutOfRangeAreRejected() {
        #expect(throws: DecodingError.self) { try read("18446744073709551616") as UInt64 }
        #expect(throws: DecodingError.self) { try read("-1") as UInt64 }
        #expect(throws: DecodingError.self) { try read("256") as UInt8 }
        #expect(throws: DecodingError.self) { try read("65536") as UInt16 }
        #expect(throws: DecodingError.self) { try read("-129") as Int8 }
    }

    /// Among them numbers halfway between two doubles, and the famous one that sent readers into endless loops.
    @Test(
        "A decimal is the nearest double",
        arguments: [
            "0.1", "2.5", "-2.5", "20", "1e22", "1e23", "9007199254740993", "9007199254740992.5", "123456789012345678901234567890",
            "5e-324", "4.9e-324",
            "2.2250738585072011e-308", "1.7976931348623157e308", "0.30000000000000004", "8.5e-10", "1.00000000000000011102230246251565404",
            "1e-22", "3e-5",
            "0.000000000000000000000000000001", "-0.0", "0", "0e5",
        ])
    func double(_ text: String) throws {
        let number: Double = try read(text)
        #expect(number.bitPattern == Double(text)?.bitPattern)
    }

    @Test("Numbers outside the range of Double are rejected", arguments: ["1e309", "-1e309", "1e999999999999", "1e-400", "2e-324"])
    func noDouble(_ text: String) {
        #expect(throws: DecodingError.self) { try read(text) as Double }
    }

    @Test("Numbers survive a round trip exactly", arguments: 0..<4)
    func comesBack(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let double = Double(bitPattern: random.next())
            if double.isFinite { #expect(try read(written(double)) as Double == double) }
            let short = Double(random.below(100_000)) / 1_000
            #expect(try read(written(short)) as Double == short)
            let bits = random.next() >> UInt64(random.below(64))
            #expect(try read(written(bits)) as UInt64 == bits)
            #expect(try read(written(Int64(bitPattern: bits))) as Int64 == Int64(bitPattern: bits))
        }
    }

    @Test func wholeDoublesAreWrittenWithoutAPoint() throws {
        #expect(try written(20.0) == "20")
        #expect(try written(2.5) == "2.5")
        #expect(try written(-0.0) == "-0")
        #expect(try written(Int64.min) == "-9223372036854775808")
        #expect(try written(UInt64.max) == "18446744073709551615")
        #expect(try written(Int8(-5)) == "-5")
        #expect(try written(0) == "0")
        #expect(try written(Float(0.1)) == "0.1")
    }

    @Test("Numbers that are not finite are rejected", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(_ number: Double) {
        #expect(throws: EncodingError.self) { try JSON.encode([number], names: .asDeclared) }
    }

    private func read<T: Decodable>(_ text: String) throws -> T { try JSON.decode(T.self, from: Array(text.utf8), names: .asDeclared) }

    private func written(_ value: some Encodable) throws -> String {
        String(decoding: try JSON.encode(value, names: .asDeclared), as: UTF8.self)
    }
}
