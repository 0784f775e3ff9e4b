import Wire

/// How effects are put out. All go through `emit`, which sees to it that nobody is named who is not in the room.
extension Room {
    /// In the order in which they joined.
    var everyone: [ParticipantHandle] { members.keys }

    func everyone(but one: ParticipantHandle) -> [ParticipantHandle] {
        members.keys.filter { $0 != one }
    }

    /// Those of them who may be sent what people read.
    func readers(among handles: [ParticipantHandle]) -> [ParticipantHandle] {
        handles.filter { members[$0]?.receivesText ?? false }
    }

    /// Who may know what happens to this member.
    func audience(of member: Member) -> [ParticipantHandle] {
        member.isHidden ? [member.handle] : everyone
    }

    /// The same without the member itself.
    func witnesses(of member: Member) -> [ParticipantHandle] {
        member.isHidden ? [] : everyone(but: member.handle)
    }

    func emit(_ effect: Effect, into effects: inout [Effect]) {
        assert(effect.named.allSatisfy(members.contains), "an effect names somebody who is not in the room: \(effect)")
        effects.append(effect)
    }

    func send(_ event: Event, to audience: [ParticipantHandle], into effects: inout [Effect]) {
        if !audience.isEmpty { emit(.send(event, to: audience), into: &effects) }
    }

    func patch(_ change: PatchChange, into effects: inout [Effect]) {
        emit(.patch(change), into: &effects)
    }

    func reply(_ reply: Reply = .done, to requester: Requester, into effects: inout [Effect]) {
        if let id = requester.id { emit(.reply(reply, re: id, to: requester.handle), into: &effects) }
    }
}

extension Room.Effect {
    /// All participants that it names.
    package var named: [ParticipantHandle] {
        switch self {
        case .send(_, let audience): audience
        case .handOver(_, let handle), .replay(_, let handle): [handle]
        case .tap(_, let publisher), .untap(_, let publisher): [publisher]
        case .reply(_, _, let handle), .reject(_, _, let handle), .mintToken(let handle, _, _), .close(let handle, _): [handle]
        case .patch(.publish(_, let publisher)), .patch(.unpublish(_, let publisher)), .patch(.gate(_, let publisher, _)),
            .patch(.clear(_, let publisher, _)), .patch(.retain(_, let publisher, _)):
            [publisher]
        case .patch(.move(_, _, let publisher, _, let subscribers)): [publisher] + subscribers
        case .patch(.subscribe(let subscriber, _, let publisher, _)), .patch(.unsubscribe(let subscriber, _, let publisher)):
            [subscriber, publisher]
        case .record, .closed: []
        }
    }
}
