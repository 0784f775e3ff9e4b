/// Whole seconds since 1970 (RFC 7519 section 2).
///
/// The RFC would allow fractions; no LiveKit SDK writes them, so a fraction is taken for a mistake. Numbers beyond ±(2^53 - 1) are
/// refused: JSON readers disagree about them (RFC 8259 section 6).
struct NumericDate: Decodable {
    static let secondsMax: Int64 = 9_007_199_254_740_991

    let seconds: Int64

    init(from decoder: any Decoder) throws {
        let number = try decoder.singleValueContainer().decode(Int64.self)
        guard number.magnitude <= Self.secondsMax.magnitude else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "a date out of range"))
        }
        seconds = number
    }
}
