use std::any::{Any, TypeId};

use leptos::{
    attr::{Attribute, any_attribute::AnyAttribute},
    prelude::*,
    tachys::{
        hydration::Cursor,
        renderer::{
            Rndr,
            types::{Element, Node, Placeholder},
        },
        view::{Mountable, Position, PositionState, Render, RenderHtml, add_attr::AddAnyAttr},
    },
};

pub struct Erased(Box<dyn Shape>);

impl Erased {
    pub(super) fn new<V: IntoView>(view: V) -> Self {
        Self(Box::new(view.into_owned()))
    }
}

/// What is on the page of an erased view.
pub struct ErasedState {
    shape: TypeId,
    mounted: Box<dyn Mounted>,
    /// Holds the place of a view that has no node of its own.
    placeholder: Option<Placeholder>,
}

trait Shape: Send {
    fn shape(&self) -> TypeId;
    fn build(self: Box<Self>) -> ErasedState;
    fn hydrate(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> ErasedState;
    fn rebuild(self: Box<Self>, mounted: &mut dyn Any);
}

impl<V: RenderHtml + 'static> Shape for V {
    fn shape(&self) -> TypeId {
        TypeId::of::<V>()
    }

    fn build(self: Box<Self>) -> ErasedState {
        let mounted = Box::new(Render::build(*self));
        let placeholder = (!V::EXISTS).then(Rndr::create_placeholder);
        ErasedState { shape: TypeId::of::<V>(), mounted, placeholder }
    }

    fn hydrate(self: Box<Self>, cursor: &Cursor, position: &PositionState) -> ErasedState {
        let mounted = Box::new(RenderHtml::hydrate::<true>(*self, cursor, position));
        let placeholder = (!V::EXISTS).then(|| cursor.next_placeholder(position));
        ErasedState { shape: TypeId::of::<V>(), mounted, placeholder }
    }

    fn rebuild(self: Box<Self>, mounted: &mut dyn Any) {
        if let Some(state) = mounted.downcast_mut::<V::State>() {
            Render::rebuild(*self, state);
        }
    }
}

/// The part of `Mountable` that is used; the rest would be compiled for each state.
trait Mounted {
    fn take_off(&mut self);
    fn put_into(&mut self, parent: &Element, marker: Option<&Node>);
    fn put_before_it(&self, child: &mut dyn Mountable) -> bool;
    fn as_any(&mut self) -> &mut dyn Any;
}

impl<S: Mountable + 'static> Mounted for S {
    fn take_off(&mut self) {
        Mountable::unmount(self);
    }

    fn put_into(&mut self, parent: &Element, marker: Option<&Node>) {
        Mountable::mount(self, parent, marker);
    }

    fn put_before_it(&self, child: &mut dyn Mountable) -> bool {
        Mountable::insert_before_this(self, child)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Render for Erased {
    type State = ErasedState;

    fn build(self) -> ErasedState {
        self.0.build()
    }

    fn rebuild(self, state: &mut ErasedState) {
        if self.0.shape() == state.shape {
            return self.0.rebuild(state.mounted.as_any());
        }
        let mut new = self.0.build();
        state.insert_before_this(&mut new);
        state.unmount();
        *state = new;
    }
}

impl Mountable for ErasedState {
    fn unmount(&mut self) {
        self.mounted.take_off();
        if let Some(placeholder) = &mut self.placeholder {
            placeholder.unmount();
        }
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        self.mounted.put_into(parent, marker);
        if let Some(placeholder) = &mut self.placeholder {
            placeholder.mount(parent, marker);
        }
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.mounted.put_before_it(child)
            || self.placeholder.as_ref().is_some_and(|placeholder| placeholder.insert_before_this(child))
    }

    /// Asked for by nobody but spread attributes, which are refused below.
    fn elements(&self) -> Vec<Element> {
        Vec::new()
    }
}

impl RenderHtml for Erased {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> ErasedState {
        self.0.hydrate(cursor, position)
    }

    fn into_owned(self) -> Self {
        self
    }

    // What follows happens on the server, where an erased view is an `AnyView`.

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    fn to_html_with_buf(
        self,
        _buf: &mut String,
        _position: &mut Position,
        _escape: bool,
        _mark_branches: bool,
        _extra_attrs: Vec<AnyAttribute>,
    ) {
    }
}

impl AddAnyAttr for Erased {
    type Output<NewAttr: Attribute> = Self;

    fn add_any_attr<NewAttr: Attribute>(self, _attr: NewAttr) -> Self
    where
        Self::Output<NewAttr>: RenderHtml,
    {
        // Never true, and looked at only where somebody does it.
        const {
            assert!(
                size_of::<NewAttr>() > isize::MAX as usize,
                "give a component a property rather than spreading attributes on it"
            );
        }
        self
    }
}
