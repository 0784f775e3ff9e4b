import Foundation
import Wire

// To compare what different readers see.
extension JSONTree {
    /// What `JSONSerialization` made of a text.
    init(_ object: Any) {
        switch object {
        case let text as String: self = .text(text)
        // Foundation's own way to tell `true` from 1.
        case let number as NSNumber where String(cString: number.objCType) == "c": self = .truth(number.boolValue)
        case let number as NSNumber: self = .number(number.doubleValue)
        case let array as [Any]: self = .array(array.map(JSONTree.init))
        case let object as [String: Any]: self = .object(object.mapValues(JSONTree.init))
        default: self = .null
        }
    }

    init(depth: Int, from random: inout SplitMix64) {
        switch random.below(depth == 0 ? 5 : 8) {
        case 0: self = .null
        case 1: self = .truth(random.below(2) == 0)
        case 2: self = .number(Double(random.below(2_000_000) - 1_000_000) / 1_000)
        // No more digits than `JSONSerialization` reads exactly; all the others are for JSONNumberTests.
        case 3: self = .number(Double(random.next() >> 11))
        case 4: self = .text(random.text())
        case 5, 6: self = .array((0..<random.below(5)).map { _ in JSONTree(depth: depth - 1, from: &random) })
        default:
            let members = (0..<random.below(5)).map { _ in (random.text(), JSONTree(depth: depth - 1, from: &random)) }
            self = .object(Dictionary(members) { first, _ in first })
        }
    }
}

extension SplitMix64 {
    /// Up to seven characters, of which many need an escape or several bytes.
    mutating func text() -> String {
        String(
            String.UnicodeScalarView(
                (0..<below(8)).map { _ in
                    let limit: UInt32 = [0x80, 0x24, 0x800, 0x1_0000, 0x11_0000][below(5)]
                    return Unicode.Scalar(UInt32(below(Int(limit)))) ?? "\u{FFFD}"
                }))
    }
}
