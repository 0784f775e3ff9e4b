internal import CLibwebsockets

/// Where one of OpenSSL's ciphers has its tag in memory, in bytes from its beginning.
///
/// To be asked for the tag by its name, or told it, takes OpenSSL a dozen comparisons of names: a quarter of what it takes to seal a record of
/// one Opus frame. Where it stands is no promise of OpenSSL's, so each process finds it out, and where it can't the name is used.
enum TagPlace {
    /// - Parameter methods: of the cipher, which go by the name.
    /// - Returns: nil unless a tag that was given stands in one place alone, one that was made stands there too, and the cipher believes what
    ///   is written there and nothing else.
    static func find(by methods: CipherMethods, keyLength: Int) -> Int? {
        guard let sealing = unsafe methods.make() else { return nil }
        defer { unsafe methods.free(sealing) }
        guard let opening = unsafe methods.make() else { return nil }
        defer { unsafe methods.free(opening) }
        let key = (0..<keyLength).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 3) }
        guard unsafe methods.startSealing(sealing, key, key.count, nil, 0, nil) == 1,
            unsafe methods.startOpening(opening, key, key.count, nil, 0, nil) == 1
        else { return nil }
        var place: Int?
        for round in 0..<4 {
            var trial = Trial(round: round)
            guard let tag = unsafe trial.seal(with: sealing, by: methods) else { return nil }
            if place == nil {
                let isOpened = unsafe trial.open(with: opening, by: methods) {
                    guard unsafe methods.giveTagByName(tag, to: opening) else { return false }
                    // Before it has made one of its own to compare.
                    place = unsafe onlyPlace(of: tag, in: opening)
                    return true
                }
                guard isOpened else { return nil }
            }
            guard let place, unsafe bytes(of: sealing, at: place) == tag else { return nil }
            guard unsafe trial.open(with: opening, by: methods, end: { unsafe write(tag, to: opening, at: place) }) else { return nil }
            for byte in tag.indices {
                var wrong = tag
                wrong[byte] ^= 1 << UInt8(byte & 7)
                if unsafe trial.open(with: opening, by: methods, end: { unsafe write(wrong, to: opening, at: place) }) { return nil }
            }
        }
        return place
    }

    private static func onlyPlace(of tag: [UInt8], in cipher: UnsafeMutableRawPointer) -> Int? {
        // We give OpenSSL no memory functions of our own.
        let size = unsafe patchbay_usable_size(cipher)
        guard size >= tag.count else { return nil }
        let places = (0...size - tag.count).filter { unsafe bytes(of: cipher, at: $0) == tag }
        return places.count == 1 ? places[0] : nil
    }

    private static func bytes(of cipher: UnsafeMutableRawPointer, at place: Int) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: cipher + place, count: RecordCipher.tagBytes))
    }

    private static func write(_ tag: [UInt8], to cipher: UnsafeMutableRawPointer, at place: Int) -> Bool {
        unsafe tag.withUnsafeBytes { unsafe (cipher + place).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        return true
    }

    /// A few bytes, sealed and opened again.
    private struct Trial {
        private let content: [UInt8]
        private var sealed: [UInt8]
        private let header: [UInt8]
        private let nonce: [UInt8]

        init(round: Int) {
            content = (0..<1 + 97 * round).map { UInt8(truncatingIfNeeded: $0) }
            sealed = content
            header = [23, 3, 3, 0, UInt8(round)]
            nonce = (0..<12).map { UInt8($0 + round) }
        }

        /// - Returns: the tag; nil if the cipher fails.
        mutating func seal(with cipher: UnsafeMutableRawPointer, by methods: CipherMethods) -> [UInt8]? {
            var (done, tag) = (0, [UInt8](repeating: 0, count: RecordCipher.tagBytes))
            guard unsafe methods.startSealing(cipher, nil, 0, nonce, nonce.count, nil) == 1,
                unsafe methods.go(cipher, nil, &done, header.count, header, header.count) == 1,
                unsafe methods.go(cipher, &sealed, &done, sealed.count, content, content.count) == 1,
                unsafe methods.end(cipher, &tag, &done, tag.count) == 1, unsafe methods.takeTagByName(&tag, from: cipher)
            else { return nil }
            return tag
        }

        /// - Parameter end: says which tag there must be.
        /// - Returns: whether the cipher found it to be the right one, and the content what it was.
        func open(with cipher: UnsafeMutableRawPointer, by methods: CipherMethods, end: () -> Bool) -> Bool {
            var (done, opened, rest) = (0, sealed, [UInt8](repeating: 0, count: RecordCipher.tagBytes))
            guard unsafe methods.startOpening(cipher, nil, 0, nonce, nonce.count, nil) == 1,
                unsafe methods.go(cipher, nil, &done, header.count, header, header.count) == 1,
                unsafe methods.go(cipher, &opened, &done, opened.count, sealed, sealed.count) == 1, end()
            else { return false }
            return unsafe methods.end(cipher, &rest, &done, rest.count) == 1 && opened == content
        }
    }
}
