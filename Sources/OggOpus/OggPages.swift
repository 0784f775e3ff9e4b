internal import Audio
internal import COgg

/// libogg's decoder for one logical stream. Damage of any kind only leads to holes.
@safe struct OggPageReader: ~Copyable {
    struct Page {
        var packets: [[UInt8]] = []
        /// The position after the last packet that ends on this page; nil if absent or invalid.
        var granule: Int64?
        var endsStream = false
        /// Whether data between the previous page and this one is missing.
        var followsHole = false
    }

    /// Larger positions (a million years) indicate damage; below, sums cannot overflow.
    private static let granuleLimit = Int64.max / 4
    private static let pieceBytes = 65_536

    private let bytes: [UInt8]
    private var fed = 0
    private let sync: UnsafeMutablePointer<ogg_sync_state>
    private let stream: UnsafeMutablePointer<ogg_stream_state>
    private var serial: Int32?
    private var hasEnded = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        unsafe sync = .allocate(capacity: 1)
        unsafe ogg_sync_init(sync)
        unsafe stream = .allocate(capacity: 1)
        // All zero is libogg's representation of an uninitialized stream; clearing it is a no-op.
        unsafe stream.initialize(to: ogg_stream_state())
    }

    deinit {
        unsafe ogg_stream_clear(stream)
        unsafe stream.deallocate()
        unsafe ogg_sync_clear(sync)
        unsafe sync.deallocate()
    }

    /// The next page of the first Opus stream in the file; pages of other streams are skipped.
    mutating func next() throws(OggOpusError) -> Page? {
        var followsHole = false
        var raw = unsafe ogg_page()
        while !hasEnded {
            let found = unsafe ogg_sync_pageout(sync, &raw)
            if found < 0 { followsHole = true }
            if found == 0 {
                guard try feed() else { return nil }
            }
            guard found > 0 else { continue }
            if unsafe try belongs(raw) {
                var page = unsafe try read(&raw)
                page.followsHole = page.followsHole || followsHole
                hasEnded = page.endsStream
                return page
            }
        }
        return nil
    }

    private mutating func feed() throws(OggOpusError) -> Bool {
        let piece = bytes[fed...].prefix(Self.pieceBytes)
        if piece.isEmpty { return false }
        guard let room = unsafe ogg_sync_buffer(sync, piece.count) else { throw .outOfMemory }
        unsafe piece.withUnsafeBytes { source in
            unsafe UnsafeMutableRawPointer(room).copyMemory(from: source.baseAddress!, byteCount: source.count)
        }
        guard unsafe ogg_sync_wrote(sync, piece.count) == 0 else { throw .outOfMemory }
        fed += piece.count
        return true
    }

    /// Selects the first stream whose first page starts with `OpusHead`.
    private mutating func belongs(_ page: ogg_page) throws(OggOpusError) -> Bool {
        var page = unsafe page
        let pageSerial = unsafe ogg_page_serialno(&page)
        if let serial { return pageSerial == serial }
        guard unsafe ogg_page_bos(&page) != 0,
            unsafe Array(UnsafeBufferPointer(start: page.body, count: page.body_len))[...].starts(withASCII: OpusHead.magic)
        else { return false }
        guard unsafe ogg_stream_init(stream, pageSerial) == 0 else { throw .outOfMemory }
        serial = pageSerial
        return true
    }

    private mutating func read(_ raw: inout ogg_page) throws(OggOpusError) -> Page {
        var page = Page()
        page.endsStream = unsafe ogg_page_eos(&raw) != 0
        let granule = unsafe ogg_page_granulepos(&raw)
        if (0...Self.granuleLimit).contains(granule) { page.granule = granule }
        // A page that libogg rejects (an unknown version, for example) counts as lost.
        guard unsafe ogg_stream_pagein(stream, &raw) == 0 else {
            page.granule = nil
            page.followsHole = true
            return page
        }
        var packet = unsafe ogg_packet()
        while true {
            let found = unsafe ogg_stream_packetout(stream, &packet)
            if found == 0 { return page }
            if found < 0 {
                page.followsHole = true
            } else {
                unsafe page.packets.append(Array(UnsafeBufferPointer(start: packet.packet, count: packet.bytes)))
            }
        }
    }
}

/// libogg's encoder for one logical stream: packets in, pages with CRC out (RFC 3533).
@safe struct OggPageWriter: ~Copyable {
    /// On the heap because libogg's pages point into it.
    private let stream: UnsafeMutablePointer<ogg_stream_state>
    private var packetNumber: Int64 = 0

    init(serial: UInt32) throws(OggOpusError) {
        let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)
        guard unsafe ogg_stream_init(stream, Int32(bitPattern: serial)) == 0 else {
            unsafe stream.deallocate()
            throw .outOfMemory
        }
        unsafe self.stream = stream
    }

    deinit {
        unsafe ogg_stream_clear(stream)
        unsafe stream.deallocate()
    }

    /// Adds a packet, whose bytes libogg copies. `granule` is the position after the packet's last sample.
    mutating func add(_ packet: [UInt8], granule: Int64, endsStream: Bool = false) throws(OggOpusError) {
        let (stream, number) = unsafe (self.stream, packetNumber)
        // libogg does not modify the packet, though its struct takes a mutable pointer.
        let code = unsafe packet.withUnsafeBufferPointer { bytes in
            var entry = unsafe ogg_packet(
                packet: UnsafeMutablePointer(mutating: bytes.baseAddress), bytes: bytes.count, b_o_s: number == 0 ? 1 : 0,
                e_o_s: endsStream ? 1 : 0, granulepos: granule, packetno: number)
            return unsafe ogg_stream_packetin(stream, &entry)
        }
        guard code == 0 else { throw .outOfMemory }
        packetNumber += 1
    }

    /// Returns everything added so far, as pages.
    mutating func flush() -> [UInt8] {
        var bytes: [UInt8] = []
        var page = unsafe ogg_page()
        while unsafe ogg_stream_flush(stream, &page) != 0 {
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: page.header, count: page.header_len))
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: page.body, count: page.body_len))
        }
        return bytes
    }
}
