import Testing

@testable import TLSRecords

/// The record layer of TLS 1.3, compared with the example of RFC 8448 section 3.
struct RecordCipherTests {
    private static let clientSecret = hex("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5")
    /// The client's first record of the example, and its content.
    private static let record = hex(
        """
        17030300 43a23f70 54b62c94 d0affafe 8228ba55 cbefacea 42f914aa 66bcab3f 2b9819a8 a5b46b39 5bd54a9a 20441e2b
        62974e1f 5a6292a2 977014bd 1e3deae6 3aeebb21 694915e4
        """)
    private static let content = (0..<50).map { UInt8($0) }

    private static func hex(_ digits: String) -> [UInt8] {
        let digits = digits.filter(\.isHexDigit)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
    }

    private struct NoMemory: Error {}

    private static func cipher(
        _ direction: RecordCipher.Direction, _ secret: [UInt8] = clientSecret, _ suite: CipherSuite = .aes128GCM
    ) throws -> RecordCipher {
        let bytes = SecretBytes(count: secret.count)
        for (index, byte) in secret.enumerated() { bytes.start[index] = byte }
        guard let secret = TrafficSecret(copying: bytes, of: suite) else { throw NoMemory() }
        guard let cipher = RecordCipher(secret, direction, after: 0) else { throw NoMemory() }
        return cipher
    }

    private static func seal(_ content: [UInt8], with cipher: inout RecordCipher) -> [UInt8] {
        var record = [UInt8](repeating: 0, count: RecordCipher.headerBytes) + content
        record += [UInt8](repeating: 0, count: RecordCipher.sealedBytes(content.count) - record.count)
        let isSealed = record.withUnsafeMutableBytes { cipher.seal($0.baseAddress!, content: content.count, of: .applicationData) }
        #expect(isSealed)
        return record
    }

    private static func open(_ record: [UInt8], with cipher: inout RecordCipher) -> (content: [UInt8], type: UInt8)? {
        var record = record
        let found = record.withUnsafeMutableBytes { cipher.open($0.baseAddress!, sealed: $0.count - RecordCipher.headerBytes) }
        guard case .content(let count, let type) = found else { return nil }
        return (Array(record[RecordCipher.headerBytes...].prefix(count)), type)
    }

    @Test func opensTheExample() throws {
        var cipher = try Self.cipher(.opening)
        let found = Self.open(Self.record, with: &cipher)
        #expect(found?.content == Self.content)
        #expect(found?.type == ContentType.applicationData.rawValue)
    }

    @Test func sealsTheExample() throws {
        var cipher = try Self.cipher(.sealing)
        let record = Self.seal(Self.content, with: &cipher)
        #expect(record == Self.record)
    }

    @Test(arguments: CipherSuite.allCases) func opensWhatItSealedInEachSuite(suite: CipherSuite) throws {
        let secret = (0..<suite.hashLength).map { UInt8($0) }
        var sealing = try Self.cipher(.sealing, secret, suite)
        var opening = try Self.cipher(.opening, secret, suite)
        for count in [0, 1, 92, 1_300, RecordCipher.contentMax] {
            let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let found = Self.open(Self.seal(content, with: &sealing), with: &opening)
            #expect(found?.content == content)
        }
    }

    @Test func eachRecordHasItsPlace() throws {
        var sealing = try Self.cipher(.sealing)
        var opening = try Self.cipher(.opening)
        _ = Self.seal([1], with: &sealing)
        let second = Self.seal([2], with: &sealing)
        let found = Self.open(second, with: &opening)
        #expect(found == nil)
    }

    @Test func anUpdateMakesAnotherKeyAndBeginsAnew() throws {
        var sealing = try Self.cipher(.sealing)
        var opening = try Self.cipher(.opening)
        var late = try Self.cipher(.opening)
        _ = Self.seal([1], with: &sealing)
        let areUpdated = [sealing.update(), opening.update()]
        #expect(areUpdated == [true, true])
        let sequence = sealing.sequence
        #expect(sequence == 0)
        let record = Self.seal([2], with: &sealing)
        let found = (inTime: Self.open(record, with: &opening), late: Self.open(record, with: &late))
        #expect(found.inTime?.content == [2])
        #expect(found.late == nil)
    }

    @Test(arguments: [0, 2, 5, 40, 71]) func noByteCanBeChanged(place: Int) throws {
        var cipher = try Self.cipher(.opening)
        var record = Self.record
        record[place] ^= 1
        let found = Self.open(record, with: &cipher)
        #expect(found == nil)
    }

    @Test func paddingIsLeftOut() throws {
        var sealing = try Self.cipher(.sealing)
        var opening = try Self.cipher(.opening)
        // A padded record: the type, then zeros, the last of which is in the position of the type byte.
        let padded = [7, 8, ContentType.applicationData.rawValue, 0, 0]
        var record = [UInt8](repeating: 0, count: RecordCipher.sealedBytes(padded.count))
        record.replaceSubrange(RecordCipher.headerBytes..<RecordCipher.headerBytes + padded.count, with: padded)
        let isSealed = record.withUnsafeMutableBytes { sealing.seal($0.baseAddress!, content: padded.count, typeByte: 0) }
        #expect(isSealed)
        let found = Self.open(record, with: &opening)
        #expect(found?.content == [7, 8])
        #expect(found?.type == ContentType.applicationData.rawValue)
    }

    @Test(arguments: [0, 1, 16]) func aRecordTooShortForATagIsNone(sealed: Int) throws {
        var cipher = try Self.cipher(.opening)
        let found = Self.open([23, 3, 3, 0, UInt8(sealed)] + [UInt8](repeating: 0, count: sealed), with: &cipher)
        #expect(found == nil)
    }

    /// RFC 8446 section 5.4: a record of nothing but padding is an unexpected message, not a bad MAC.
    @Test func aRecordOfPaddingOnlyIsReportedAsSuch() throws {
        var sealing = try Self.cipher(.sealing)
        var opening = try Self.cipher(.opening)
        var record = [UInt8](repeating: 0, count: RecordCipher.sealedBytes(3))
        let found = record.withUnsafeMutableBytes {
            _ = sealing.seal($0.baseAddress!, content: 3, typeByte: 0)
            return opening.open($0.baseAddress!, sealed: $0.count - RecordCipher.headerBytes)
        }
        #expect(found == .onlyPadding)
    }

    /// RFC 8446 section 5.4: more than 2^14 bytes of plaintext are a record_overflow, not a bad MAC.
    @Test func tooMuchPlaintextIsAnOverflow() throws {
        var sealing = try Self.cipher(.sealing)
        var opening = try Self.cipher(.opening)
        var record = [UInt8](repeating: 1, count: RecordCipher.sealedBytes(RecordCipher.contentMax + 1))
        let found = record.withUnsafeMutableBytes {
            _ = sealing.seal($0.baseAddress!, content: RecordCipher.contentMax + 1, of: .applicationData)
            return opening.open($0.baseAddress!, sealed: $0.count - RecordCipher.headerBytes)
        }
        #expect(found == .overflow)
    }
}
