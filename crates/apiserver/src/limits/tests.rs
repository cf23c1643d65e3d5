use super::*;

fn small() -> Settings {
    Settings { requests: 4, requests_per_user: 2, watches_per_user: 1, ..Settings::default() }
}

#[test]
fn one_user_cannot_keep_the_others_out() {
    let limits = Limits::new(small());
    let (ann, ben): (Arc<str>, Arc<str>) = ("ann".into(), "ben".into());
    let root = Plane::root();
    let enter = |user, load| limits.enter(user, Rank::User, &root, load);
    let first = enter(&ann, Load::Read).unwrap();
    let _second = enter(&ann, Load::Read).unwrap();
    assert_eq!(enter(&ann, Load::Read).err().unwrap().code, 429);
    let _bens = enter(&ben, Load::Read).unwrap();
    assert_eq!(enter(&ben, Load::Read).err().unwrap().code, 429, "all together have their limit too");
    drop(first);
    assert!(enter(&ann, Load::Read).is_ok());
    let _watch = enter(&ann, Load::Watch).unwrap();
    assert_eq!(enter(&ann, Load::Watch).err().unwrap().code, 429);
    assert!(enter(&ben, Load::Watch).is_ok());
}

#[test]
fn a_share_is_kept_for_administrators_and_strangers_have_a_pool_of_their_own() {
    let limits = Limits::new(Settings { requests: 20, anonymous_requests: 3, ..small() });
    let root = Plane::root();
    let mut going_on = Vec::new();
    let nobody: Arc<str> = "system:anonymous".into();
    for _ in 0..3 {
        going_on.push(limits.enter(&nobody, Rank::Anonymous, &root, Load::Read).unwrap());
    }
    assert_eq!(limits.enter(&nobody, Rank::Anonymous, &root, Load::Read).err().unwrap().code, 429);
    for number in 0..18 {
        let user: Arc<str> = format!("user-{number}").into();
        going_on.push(limits.enter(&user, Rank::User, &root, Load::Write).unwrap());
    }
    let user: Arc<str> = "one-too-many".into();
    assert_eq!(limits.enter(&user, Rank::User, &root, Load::Write).err().unwrap().code, 429);
    let admin: Arc<str> = "admin".into();
    let _admins = limits.enter(&admin, Rank::System, &root, Load::Write).unwrap();
    assert_eq!(limits.going_on(), (0, 19));
    drop(going_on);
    assert_eq!(limits.going_on(), (0, 1));
}

#[test]
fn one_project_cannot_keep_the_others_from_asking_and_watching() {
    let limits =
        Limits::new(Settings { watches_per_project: 2, requests_per_project: 2, ..Settings::default() });
    let (web, shop, root) = (Plane::project("web"), Plane::project("shop"), Plane::root());
    for (load, what) in [(Load::Watch, "watches"), (Load::Read, "requests")] {
        let enter = |user: &str, plane| limits.enter(&user.into(), Rank::User, plane, load);
        let first = enter("ann", &web).unwrap();
        let _second = enter("ben", &web).unwrap();
        let refused = enter("cat", &web).err().unwrap();
        assert_eq!(refused.code, 429);
        let told = format!("too many concurrent {what} in this project: limit is 2");
        assert!(refused.message.contains(&told), "{refused}");
        let _elsewhere = enter("cat", &shop).unwrap();
        let _root = enter("cat", &root).unwrap();
        drop(first);
        assert!(enter("cat", &web).is_ok());
    }
}

#[test]
fn bytes_of_bodies_are_bounded_for_one_user_and_for_all_with_a_share_for_administrators() {
    let limits = Limits::new(Settings { body_bytes: 4 << 20, body_bytes_per_user: 2 << 20, ..small() });
    let body = |user: &str, rank, bytes| {
        let mut held = limits.receive(&user.into(), rank)?;
        held.grow_to(bytes)?;
        Ok::<_, Status>(held)
    };
    let ann = body("ann", Rank::User, 2 << 20).unwrap();
    assert_eq!(body("ann", Rank::User, 1).err().unwrap().code, 429, "her own limit");
    let _ben = body("ben", Rank::User, 1 << 20).unwrap();
    assert_eq!(body("cat", Rank::User, 1).err().unwrap().code, 429, "the rest is kept");
    let _admin = body("admin", Rank::System, 1 << 20).unwrap();
    assert_eq!(limits.body_bytes(), 4 << 20);
    drop(ann);
    assert_eq!(limits.body_bytes(), 2 << 20);
    let mut more = body("cat", Rank::User, 1).unwrap();
    assert_eq!(more.grow_to(3 << 20).err().unwrap().code, 429);
    drop(more);
    assert_eq!(limits.body_bytes(), 2 << 20, "what was refused is not counted");
}

#[test]
fn bodies_that_are_never_sent_to_their_end_take_no_slots() {
    let limits = Limits::new(small());
    let (ann, root): (Arc<str>, Plane) = ("ann".into(), Plane::root());
    let mut first = limits.receive(&ann, Rank::User).unwrap();
    let second = limits.receive(&ann, Rank::User).unwrap();
    assert_eq!(limits.receive(&ann, Rank::User).err().unwrap().code, 429);
    assert!(limits.enter(&ann, Rank::User, &root, Load::Read).is_ok(), "what has no body goes on");
    first.is_complete();
    let third = limits.receive(&ann, Rank::User).unwrap();
    drop((first, second, third));
    assert!(limits.lock().users.is_empty(), "whoever does nothing is forgotten");
}
