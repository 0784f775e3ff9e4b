/// A number as its digits say: ±significand · 10^exponent, nothing rounded.
struct JSONNumber {
    private let digits: ArraySlice<UInt8>
    private var isNegative = false
    private var significand: UInt64 = 0
    private var exponent = 0
    /// Whether there are more digits than `significand` holds.
    private var isTooLong = false

    /// - Parameter digits: a number by JSON's grammar.
    init(_ digits: ArraySlice<UInt8>) {
        self.digits = digits
        var isFraction = false
        for (index, byte) in zip(digits.indices, digits) {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                exponent += Self.power(digits[(index + 1)...])
                return
            default:
                add(digit: UInt64(byte & 0x0F))
                if isFraction { exponent -= 1 }
            }
        }
    }

    private mutating func add(digit: UInt64) {
        let (shifted, isOver) = significand.multipliedReportingOverflow(by: 10)
        let (sum, carries) = shifted.addingReportingOverflow(digit)
        if isOver || carries { isTooLong = true } else { significand = sum }
    }

    /// What is written behind the `e`, as far as it makes a difference.
    private static func power(_ written: ArraySlice<UInt8>) -> Int {
        let isNegative = written.first == UInt8(ascii: "-")
        let power = written.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
            .reduce(0) { min($0 * 10 + Int($1 & 0x0F), 1_000_000) }
        return isNegative ? -power : power
    }
}

extension JSONNumber {
    /// Nil if it is none of `T`'s values. `1.0` and `1e2` are integers.
    func integer<T: FixedWidthInteger>(_: T.Type) -> T? {
        guard !isTooLong else { return nil }
        var magnitude = significand
        var rest = magnitude == 0 ? 0 : exponent
        while rest > 0 {
            let (product, isOver) = magnitude.multipliedReportingOverflow(by: 10)
            guard !isOver else { return nil }
            magnitude = product
            rest -= 1
        }
        while rest < 0 {
            let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return nil }
            magnitude = quotient
            rest += 1
        }
        return T(exactly: isNegative ? -Int128(magnitude) : Int128(magnitude))
    }

    /// The nearest `Double`; nil if that is infinite, or zero where the number is not.
    var double: Double? {
        if let exact = exactQuotientOrProduct { return isNegative ? -exact : exact }
        guard let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite, value != 0 || significand == 0 else {
            return nil
        }
        return value
    }

    /// Where significand and power of ten are both exact as `Double`, one operation is rounded once and so right (Clinger 1990).
    private var exactQuotientOrProduct: Double? {
        guard !isTooLong, significand <= 1 << 53, Self.powersOfTen.indices.contains(abs(exponent)) else { return nil }
        let power = Self.powersOfTen[abs(exponent)]
        return exponent < 0 ? Double(significand) / power : Double(significand) * power
    }

    /// All that a `Double` holds exactly.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]
}
