/// Any JSON at all.
package indirect enum JSONTree: Equatable {
    case null
    case truth(Bool)
    case number(Double)
    case text(String)
    case array([JSONTree])
    case object([String: JSONTree])
}

extension JSONTree: Codable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let truth = try? value.decode(Bool.self) {
            self = .truth(truth)
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

    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .truth(let truth): try value.encode(truth)
        case .number(let number): try value.encode(number)
        case .text(let text): try value.encode(text)
        case .array(let array): try value.encode(array)
        case .object(let object): try value.encode(object)
        }
    }
}
