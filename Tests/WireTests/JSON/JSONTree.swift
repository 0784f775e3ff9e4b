import Foundation
import Wire

/// An arbitrary JSON value, to compare what different coders decode.
indirect enum JSONTree: Equatable {
    case null
    case boolean(Bool)
    case number(Double)
    case text(String)
    case array([JSONTree])
    case object([String: JSONTree])
}

extension JSONTree: Codable {
    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let boolean = try? value.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let array = try? value.decode([JSONTree].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSONTree].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .boolean(let boolean): try value.encode(boolean)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .array(let array): try value.encode(array)
        case .object(let object): try value.encode(object)
        }
    }
}

extension JSONTree {
    /// - Parameter object: a result of `JSONSerialization`.
    init(_ object: Any) {
        switch object {
        case let text as String: self = .text(text)
        // Foundation distinguishes `true` from 1 by this type encoding.
        case let number as NSNumber where String(cString: number.objCType) == "c": self = .boolean(number.boolValue)
        case let number as NSNumber: self = .number(number.doubleValue)
        case let array as [Any]: self = .array(array.map(JSONTree.init))
        case let object as [String: Any]: self = .object(object.mapValues(JSONTree.init))
        default: self = .null
        }
    }

    init(depth: Int, from random: inout SplitMix64) {
        switch random.below(depth == 0 ? 5 : 8) {
        case 0: self = .null
        case 1: self = .boolean(random.below(2) == 0)
        case 2: self = .number(Double(random.below(2_000_000) - 1_000_000) / 1_000)
        // `JSONSerialization` is exact up to 53 bits; JSONNumberTests covers the rest.
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
    /// Up to seven characters, many of which need an escape or several bytes.
    mutating func text() -> String {
        String(
            String.UnicodeScalarView(
                (0..<below(8)).map { _ in
                    let limit: UInt32 = [0x80, 0x24, 0x800, 0x1_0000, 0x11_0000][below(5)]
                    return Unicode.Scalar(UInt32(below(Int(limit)))) ?? "\u{FFFD}"
                }))
    }
}
